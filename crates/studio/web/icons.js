// Icons: strokes in a box of 24.

import { html } from "./base.js";

/** @type {{[name: string]: string}} */
const paths = {
  heading: "M6 5v14M16 5v14M6 12h10", text: "M4 7h16M4 12h16M4 17h10", list: "M9 6h11M9 12h11M9 18h11M4 6h.01M4 12h.01M4 18h.01",
  table: "M4 5h16v14H4zM4 10h16M10 10v9", columns: "M4 5h16v14H4zM12 5v14", panel: "M4 6h16v12H4zM8 10h8M8 14h5",
  keyValue: "M4 7h5M13 7h7M4 12h5M13 12h7M4 17h5M13 17h7", image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M9 9h.01",
  barcode: "M5 6v12M8 6v12M12 6v12M15 6v12M19 6v12", chart: "M5 19V10M11 19V5M17 19v-6M3 19h18", divider: "M4 12h16",
  spacer: "M4 5h16M4 19h16M12 8v8M9.5 10.500 12 8l2.500 2.500M9.500 13.500 12 16l2.500-2.500", pageBreak: "M6 3v6h12V3M6 21v-6h12v6M3 12h3M10 12h4M18 12h3",
  section: "M5 3h14v18H5zM5 8h14", if: "M6 4v6a4 4 0 0 0 4 4h8M14 10l4 4-4 4M6 10v10", repeat: "M17 3l3 3-3 3M4 11V9a3 3 0 0 1 3-3h13M7 21l-3-3 3-3M20 13v2a3 3 0 0 1-3 3H4",
  use: "M8 8H4v12h12v-4M8 4h12v12H8z", tableOfContents: "M4 6h10M4 12h10M4 18h10M18 6h2M18 12h2M18 18h2", positioned: "M4 4h16v16H4zM9 9h8v5H9z",
  footnote: "M4 5h16M4 10h16M4 15h8M4 20h6", signatureField: "M4 17c3-8 5-8 5-3s3 2 4-1 2 4 7 3M4 21h16", formField: "M4 8h16v8H4zM8 11v2", richText: "M5 6h14M5 11h9M5 16h14M17 9l2 2-2 2",
  document: "M6 3h8l5 5v13H6zM14 3v5h5", page: "M6 3h12v18H6zM6 7h12M6 17h12", theme: "M12 3a9 9 0 1 0 0 18c2 0 2-2 1-3-1-2 0-3 2-3h3a3 3 0 0 0 3-3c0-5-4-9-9-9zM8 12h.01M9.500 8h.01M14.500 8h.01",
  item: "M5 12h14", column: "M9 4h6v16H9z", code: "M9 7l-5 5 5 5M15 7l5 5-5 5", chevron: "M9 6l6 6-6 6", down: "M6 9l6 6 6-6", search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4 4",
  plus: "M12 5v14M5 12h14", minus: "M5 12h14", undo: "M9 5 4 10l5 5M4 10h10a6 6 0 0 1 0 12h-2", redo: "M15 5l5 5-5 5M20 10H10a6 6 0 0 0 0 12h2", download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  upload: "M12 16V5M7 9l5-5 5 5M5 20h14", trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6", copy: "M9 9h11v11H9zM5 15H4V4h11v1", up: "M12 19V6M6 11l6-6 6 6", lower: "M12 5v13M6 13l6 6 6-6",
  close: "M6 6l12 12M18 6 6 18", flow: "M5 4h5v5H5zM14 15h5v5h-5zM7.500 9v5a3.500 3.500 0 0 0 3.500 3.500h3", runs: "M4 6h8M8 12h10M12 18h8", convert: "M4 8h13M13 4l4 4-4 4M20 16H7M11 12l-4 4 4 4", history: "M4 12a8 8 0 1 0 3-6.200M4 4v4h4M12 8v4l3 2",
  compare: "M4 5h7v14H4zM13 5h7v14h-7z", warning: "M12 4 2.500 20h19zM12 10v4M12 17h.01", error: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 8v5M12 16h.01", tick: "M5 13l4 4 10-11", more: "M5 12h.01M12 12h.01M19 12h.01",
  pen: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  key: "M15 4a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM11 12l-8 8M6 17l2 2", play: "M7 5l12 7-12 7z", retry: "M20 12a8 8 0 1 1-3-6.200M20 4v4h-4", stop: "M6 6h12v12H6z", grip: "M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01", data: "M4 6c0-3 16-3 16 0v12c0 3-16 3-16 0zM4 6c0 3 16 3 16 0M4 12c0 3 16 3 16 0",
  tag: "M4 4h8l8 8-8 8-8-8zM8 8h.01", sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3", file: "M6 3h8l5 5v13H6z",
};

/**
 * An icon; decoration, so it has no name.
 * @param {{name: string}} props
 */
export const Icon = ({ name }) => html`<svg class="icon-svg" viewBox="0 0 24 24" aria-hidden="true"><path d=${paths[name] ?? paths.item} /></svg>`;
