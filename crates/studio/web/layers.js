// A page's picture in three layers: what comes before the lines that change while somebody types, those lines,
// and what comes after them. Only the layer that differs is decoded again, which is most of the time until it is seen.

/** @typedef {{head: string, body: string, before: number, after: number, urls: string[]}} Layers */

/** Characters of the changing layer that are not worth another cut. */
const SMALL = 8000;
/** The engine ends the head of a picture so, and each line of the body is drawn by itself. */
const HEAD = "</title>\n";
const END = "</svg>\n";

/**
 * The most characters, up to `most`, for which `isSame` holds; it does for fewer, too.
 * @param {number} most
 * @param {(low: number, high: number) => boolean} isSame whether both texts are the same between these
 */
function longest(most, isSame) {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isSame(low, middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * How many characters of whole lines both texts begin with, and end with.
 * @param {string} text
 * @param {string} old
 * @returns {[number, number]}
 */
function sameLines(text, old) {
  const most = Math.min(text.length, old.length);
  const start = longest(most, (low, high) => text.slice(low, high) === old.slice(low, high));
  const first = text.lastIndexOf("\n", start - 1) + 1;
  const part = (/** @type {string} */ of, /** @type {number} */ low, /** @type {number} */ high) => of.slice(of.length - high, of.length - low);
  const rest = text.length - longest(most - first, (low, high) => part(text, low, high) === part(old, low, high));
  const last = rest === 0 || text[rest - 1] === "\n" ? rest : text.indexOf("\n", rest) + 1;
  return [first, text.length - Math.max(last, first)];
}

/**
 * The lines of each layer.
 * @param {{body: string, before: number, after: number}} of
 */
const parts = ({ body, before, after }) => [body.slice(0, before), body.slice(before, body.length - after), body.slice(body.length - after)];

/**
 * The layers of a picture. Those that are as they were keep their URLs; one without lines has none, but for the middle one.
 * @param {string} picture
 * @param {Layers | null} [old]
 * @returns {Layers}
 */
export function layersOf(picture, old) {
  // The title is no part of what is drawn.
  const head = picture.slice(0, picture.indexOf(">") + 1);
  const body = picture.slice(picture.indexOf(HEAD) + HEAD.length, picture.length - END.length);
  const like = old?.head === head ? old : null;
  if (like?.body === body) return like;
  let [before, after] = [0, 0];
  if (like) {
    const same = sameLines(body, like.body);
    [before, after] = [Math.min(like.before, same[0]), Math.min(like.after, same[1])];
    const drawn = body.length - before - after;
    const changed = body.length - same[0] - same[1];
    if (drawn > SMALL && drawn > 4 * changed) [before, after] = same;
  }
  const olds = like ? parts(like) : [];
  const urls = parts({ body, before, after }).map((lines, layer) => {
    if (like && lines === olds[layer]) return like.urls[layer];
    return lines || layer === 1 ? URL.createObjectURL(new Blob([head, lines, END], { type: "image/svg+xml" })) : "";
  });
  return { head, body, before, after, urls };
}
