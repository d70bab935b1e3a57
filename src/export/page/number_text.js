// Numbers for people.

/**
 * 1234567 as 1,234,567. The same in every locale, so that figures can be compared with the command line's.
 * @param {number | bigint} value
 * @returns {string}
 */
export function groupedText(value) {
  const text = typeof value === 'bigint' ? value.toString() : wholeText(value);
  const [integer, fraction] = text.split('.');
  const grouped = integer.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction ? grouped + '.' + fraction : grouped;
}

/**
 * @param {number} value
 * @returns {string} without exponent
 */
function wholeText(value) {
  if (Number.isInteger(value)) return BigInt(value).toString();
  return value.toFixed(2).replace(/\.?0+$/, '');
}

/**
 * A fraction as per cent, with digits enough to tell small shares from nothing.
 * @param {number} part
 * @param {number} whole
 * @returns {string}
 */
export function percentText(part, whole) {
  if (!(whole > 0)) return '–';
  const percent = (100 * part) / whole;
  if (percent === 0) return '0 %';
  const size = Math.abs(percent);
  if (size < 0.0001) return (percent < 0 ? '> −' : '< ') + '0.0001 %';
  const digits = size >= 0.995 ? 2 : size >= 0.0995 ? 3 : 4;
  return signedMinus(percent.toFixed(size >= 99.995 ? 0 : digits)) + ' %';
}

/**
 * Difference of two shares in percentage points, with sign.
 * @param {number} difference as a fraction
 * @returns {string}
 */
export function pointsText(difference) {
  const points = 100 * difference;
  const text = Math.abs(points).toFixed(2);
  if (text === '0.00') return '0.00 pp';
  return (points < 0 ? '−' : '+') + text + ' pp';
}

/**
 * @param {string} text
 * @returns {string} with a real minus
 */
function signedMinus(text) {
  return text.startsWith('-') ? '−' + text.slice(1) : text;
}

/**
 * A duration with a fitting unit.
 * @param {number} ns
 * @returns {string}
 */
export function durationText(ns) {
  const size = Math.abs(ns);
  if (size >= 1e9) return scaledText(ns / 1e9) + ' s';
  if (size >= 1e6) return scaledText(ns / 1e6) + ' ms';
  if (size >= 1e3) return scaledText(ns / 1e3) + ' µs';
  return ns === 0 ? '0 s' : scaledText(ns) + ' ns';
}

/**
 * @param {number} value
 * @returns {string} four significant digits at most
 */
function scaledText(value) {
  return groupedText(Number(value.toPrecision(4)));
}

/**
 * @param {number} bytes
 * @returns {string}
 */
function bytesText(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let value = bytes;
  while (Math.abs(value) >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return scaledText(value) + ' ' + units[unit];
}

/**
 * A unit whose numbers are not whole, as in `bytes*10^-2`: what it is called, and its digits behind the point.
 * @param {string} unit
 * @returns {{name: string, decimals: number}}
 */
function partsOfUnit(unit) {
  const scaled = /^(.*)\*10\^-([1-9])$/s.exec(unit);
  return scaled ? {name: scaled[1], decimals: Number(scaled[2])} : {name: unit, decimals: 0};
}

/**
 * What a unit is called, however its numbers are scaled.
 * @param {string} unit
 * @returns {string}
 */
export function unitName(unit) {
  return partsOfUnit(unit).name;
}

/**
 * A weight with its unit; exact, and readable besides where the unit has larger ones.
 * @param {number | bigint} value
 * @param {string} unit
 * @returns {string}
 */
export function weightText(value, unit) {
  const {name} = partsOfUnit(unit);
  if (name === 'ns' || name === 'bytes') return plainWeightText(value, unit);
  const text = plainWeightText(value, unit);
  return text + (name ? ' ' + (text === '1' ? singular(name) : name) : '');
}

/**
 * The same without a unit that is not one of time or bytes.
 * @param {number | bigint} value
 * @param {string} unit
 * @returns {string}
 */
export function plainWeightText(value, unit) {
  const {name, decimals} = partsOfUnit(unit);
  const amount = Number(value) / 10 ** decimals;
  if (name === 'ns') return durationText(amount);
  if (name === 'bytes') return bytesText(amount);
  if (decimals === 0) return groupedText(value);
  const [integer, fraction] = amount.toFixed(decimals).split('.');
  const rest = fraction.replace(/0+$/, '');
  return groupedText(BigInt(integer)) + (rest ? '.' + rest : '');
}

/**
 * @param {string} unit
 * @returns {string}
 */
function singular(unit) {
  return unit.endsWith('s') && unit !== 'ns' ? unit.slice(0, -1) : unit;
}

/**
 * A difference of weights, with sign.
 * @param {number} difference
 * @param {string} unit
 * @returns {string}
 */
export function changeText(difference, unit) {
  return (difference < 0 ? '−' : difference > 0 ? '+' : '') + weightText(Math.abs(difference), unit);
}
