// German for the descriptions of the schemas of templates and flows, and of filters.

import { documentMeanings } from "./schema-de-document.js";
import { filterMeanings } from "./schema-de-filters.js";
import { flowMeanings } from "./schema-de-flow.js";
import { invoiceMeanings } from "./schema-de-invoice.js";
import { nodesMeanings } from "./schema-de-nodes.js";

/** By their English text. */
export const german = /** @type {{[english: string]: string}} */ ({ ...documentMeanings, ...nodesMeanings, ...invoiceMeanings, ...flowMeanings, ...filterMeanings });
