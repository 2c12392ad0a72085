// German for the descriptions of the schemas of templates and flows, and of filters.

import { documentDescriptions } from "./schema-de-document.js";
import { filterDescriptions } from "./schema-de-filters.js";
import { flowDescriptions } from "./schema-de-flow.js";
import { invoiceDescriptions } from "./schema-de-invoice.js";
import { nodesDescriptions } from "./schema-de-nodes.js";

/** By their English text. */
export const german = /** @type {{[english: string]: string}} */ ({ ...documentDescriptions, ...nodesDescriptions, ...invoiceDescriptions, ...flowDescriptions, ...filterDescriptions });
