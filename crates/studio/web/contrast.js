// Contrast of text colors with their grounds, as WCAG 2.2 measures it.

/**
 * The color names of the engine.
 * @type {{[name: string]: string}}
 */
const NAMED = {
  black: "#000000", silver: "#c0c0c0", gray: "#808080", grey: "#808080", white: "#ffffff", maroon: "#800000", red: "#ff0000",
  purple: "#800080", fuchsia: "#ff00ff", green: "#008000", lime: "#00ff00", olive: "#808000", yellow: "#ffff00", navy: "#000080",
  blue: "#0000ff", teal: "#008080", aqua: "#00ffff", orange: "#ffa500", lightgray: "#d3d3d3", darkgray: "#a9a9a9",
};

/**
 * Six digits of a color as templates write it; null for an expression, or for what is no color.
 * @param {unknown} color
 * @returns {string | null}
 */
export function hex(color) {
  if (typeof color !== "string") return null;
  if (/^#[0-9a-f]{6}$/i.test(color)) return color.toLowerCase();
  if (/^#[0-9a-f]{3}$/i.test(color)) return `#${[...color.slice(1).toLowerCase()].map((one) => one + one).join("")}`;
  return NAMED[color.toLowerCase()] ?? null;
}

/**
 * Relative luminance.
 * @param {string} color
 */
function luminance(color) {
  const parts = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255);
  const [red, green, blue] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * Contrast of two colors, 1 to 21; null if one of them is no color.
 * @param {unknown} one
 * @param {unknown} other
 */
export function contrast(one, other) {
  const [first, second] = [hex(one), hex(other)];
  if (first === null || second === null) return null;
  const [low, high] = [first, second].map(luminance).sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/**
 * The ratio that text needs (level AA): less if it is large.
 * @param {boolean} isLarge
 */
export const needed = (isLarge) => (isLarge ? 3 : 4.5);
