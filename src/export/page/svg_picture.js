// The drawn boxes as an SVG file of its own: no script, nothing from elsewhere.

/**
 * @typedef {object} PictureBox
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 * @property {string} fill
 * @property {string} text colour
 * @property {string} label shortened name
 * @property {string} title full name and figures
 * @property {boolean} found
 *
 * @typedef {object} Picture
 * @property {number} width
 * @property {number} height
 * @property {string} title
 * @property {string} subtitle
 * @property {PictureBox[]} boxes
 * @property {{fill: string, text: string}[]} legend
 * @property {{back: string, text: string, dimText: string, found: string}} colours
 */

export const PICTURE_MARGIN = 12;
export const PICTURE_HEAD = 52;
const LEGEND_LINE = 20;
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

/**
 * Text between tags or in an attribute. What XML cannot hold becomes U+FFFD.
 * @param {string} text
 * @returns {string}
 */
export function xmlText(text) {
  return text
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
    // eslint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;').replace(/'/g, '&#39;');
}

/**
 * @param {number} value
 * @returns {string} short
 */
function coordinate(value) {
  return String(Math.round(value * 100) / 100);
}

/**
 * Where the legend's entries stand.
 * @param {Picture} picture
 * @returns {{x: number, y: number, fill: string, text: string}[]}
 */
function legendPlaces(picture) {
  const places = [];
  let x = PICTURE_MARGIN;
  let y = PICTURE_HEAD + picture.height + LEGEND_LINE;
  for (const entry of picture.legend) {
    const width = 30 + entry.text.length * 6.5;
    if (x > PICTURE_MARGIN && x + width > PICTURE_MARGIN + picture.width) {
      x = PICTURE_MARGIN;
      y += LEGEND_LINE;
    }
    places.push({ x, y, ...entry });
    x += width;
  }
  return places;
}

/**
 * @param {PictureBox} box
 * @param {Picture} picture
 * @returns {string}
 */
function boxElement(box, picture) {
  const stroke = box.found ? ` stroke="${picture.colours.found}" stroke-width="1.5"` : '';
  const rect = `<rect x="${coordinate(box.x)}" y="${coordinate(box.y)}" width="${coordinate(box.width)}" ` +
    `height="${coordinate(box.height)}" fill="${box.fill}" rx="1"${stroke}/>`;
  const label = box.label === '' ? '' :
    `<text x="${coordinate(box.x + 4)}" y="${coordinate(box.y + box.height - 5)}" fill="${box.text}">${xmlText(box.label)}</text>`;
  return `<g><title>${xmlText(box.title)}</title>${rect}${label}</g>`;
}

/**
 * @param {Picture} picture
 * @returns {string} an SVG document
 */
export function svgOfPicture(picture) {
  const places = legendPlaces(picture);
  const last = places[places.length - 1];
  const height = (last ? last.y : PICTURE_HEAD + picture.height) + PICTURE_MARGIN;
  const width = picture.width + 2 * PICTURE_MARGIN;
  const { back, text, dimText } = picture.colours;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${coordinate(width)}" height="${coordinate(height)}" ` +
      `viewBox="0 0 ${coordinate(width)} ${coordinate(height)}" font-family='${FONT}' font-size="12">`,
    `<title>${xmlText(picture.title)}</title>`,
    `<rect width="100%" height="100%" fill="${back}"/>`,
    `<text x="${PICTURE_MARGIN}" y="22" fill="${text}" font-size="15" font-weight="600">${xmlText(picture.title)}</text>`,
    `<text x="${PICTURE_MARGIN}" y="40" fill="${dimText}">${xmlText(picture.subtitle)}</text>`,
    `<g transform="translate(${PICTURE_MARGIN} ${PICTURE_HEAD})">`,
    ...picture.boxes.map((box) => boxElement(box, picture)),
    '</g>',
    ...places.map((entry) => `<rect x="${entry.x}" y="${entry.y - 10}" width="12" height="12" rx="2" fill="${entry.fill}"/>` +
      `<text x="${entry.x + 17}" y="${entry.y}" fill="${dimText}">${xmlText(entry.text)}</text>`),
    '</svg>',
  ];
  return lines.join('\n') + '\n';
}
