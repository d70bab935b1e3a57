// A canvas with a tree in it: scrolling, pointer and keyboard. What is shown comes from a source.
import { nodeAt, visibleRows, zoomedWindow } from './flame_layout.js';
import { FlameMirror, shownChildren } from './flame_mirror.js';
import { boxesOfScene, FLAME_FONT, paintFlame, ROW_HEIGHT, rowAtHeight, topOfRow } from './flame_painter.js';
import { LabelFitter } from './label_fitter.js';
import { detailsOfNode, nodeLine } from './node_details.js';
import { make } from './page_elements.js';
import { isPrinting, paletteOf } from './page_theme.js';
import { nodeOfPath, pathOfNode } from './tree_math.js';

/** Names that are new take time: those that are not fitted within this many ms come with the next frame. */
const LABEL_MS = 6;

/** Highest canvas on paper, in CSS pixels. */
const PAPER_HEIGHT = 1500;
const WHEEL_STEP = 1.0015;

/**
 * @typedef {object} FlameSource
 * @property {string} id
 * @property {string} label
 * @property {() => ViewTree | null} view null: nothing to show
 * @property {() => [number, number]} window weights
 * @property {() => 'up' | 'down'} direction
 * @property {() => boolean} leafFirst
 * @property {() => string} rootText
 * @property {(node: number) => void} onOpen a click or Enter
 * @property {(window: [number, number] | null) => void} onWindow fractions
 * @property {() => boolean} onLeave one step out, if there is one here
 * @property {(panel: FlamePanel, node: number) => void} onFocus
 * @property {{pathOf: (node: number) => number[], nodeOf: (path: number[]) => number}} [place] what says which box has the focus,
 *   where functions from the root do not
 */

export class FlamePanel {
  /**
   * @param {import('./page_model.js').PageModel} model
   * @param {FlameSource} source
   * @param {import('./node_details.js').HoverCard} card
   */
  constructor(model, source, card) {
    this.model = model;
    this.source = source;
    this.card = card;
    this.canvas = make('canvas', { class: 'flame-canvas', 'aria-hidden': 'true' });
    this.mirror = new FlameMirror(source.label, source.id);
    this.sizer = make('div', { class: 'flame-sizer' }, this.mirror.element, this.canvas);
    this.scroller = make('div', { class: 'flame-scroller' }, this.sizer);
    this.element = make('div', { class: 'flame-panel' }, this.scroller);
    this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d', { alpha: false }) ?? this.canvas.getContext('2d'));
    this.fitter = this.makeFitter();
    /** @type {number[]} functions down to the node that has the keyboard's focus */
    this.focusPath = [];
    this.hover = -1;
    this.focused = false;
    /** @type {import('./flame_painter.js').FlameScene | null} */
    this.scene = null;
    this.waiting = false;
    /** What lies below the part in sight, in pixels: it stays when the size changes. */
    this.bottomGap = 0;
    this.laidHeight = 0;
    /** How long the latest drawing took, and what it drew: for measurements. */
    this.drawn = { milliseconds: 0, boxes: 0 };
    this.listen();
  }

  makeFitter() {
    this.context.font = FLAME_FONT;
    return new LabelFitter(this.model.profile, (text) => {
      this.context.font = FLAME_FONT;
      return this.context.measureText(text).width;
    });
  }

  listen() {
    const tree = this.mirror.element;
    this.scroller.addEventListener('scroll', () => this.schedule(), { passive: true });
    this.canvas.addEventListener('pointermove', (event) => this.onMove(event));
    this.canvas.addEventListener('pointerleave', () => this.setHover(-1));
    this.canvas.addEventListener('click', (event) => this.onClick(event));
    this.canvas.addEventListener('wheel', (event) => this.onWheel(event), { passive: false });
    tree.addEventListener('keydown', (event) => this.onKey(event));
    tree.addEventListener('focus', () => this.setFocused(true));
    tree.addEventListener('blur', () => this.setFocused(false));
    new ResizeObserver(() => this.refresh()).observe(this.scroller);
  }

  /** @param {boolean} focused */
  setFocused(focused) {
    this.focused = focused;
    if (focused && this.scene) this.moveFocus(this.focusNode);
    this.schedule();
  }

  /** Lays out and draws anew, now. */
  refresh() {
    // Drawn before other elements change, so that the browser lays them out once.
    this.scene = this.layOut();
    this.draw();
    if (this.scene) this.showMirror(this.scene);
    else this.mirror.clear();
  }

  /** Draws with the next frame. */
  schedule() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  /** @returns {import('./flame_painter.js').FlameScene | null} */
  layOut() {
    const view = this.source.view();
    const width = this.scroller.clientWidth;
    if (!view || width === 0) return null;
    const rows = visibleRows(view, this.source.window(), width);
    const contentHeight = Math.max(rows.length * ROW_HEIGHT, isPrinting() ? 0 : this.scroller.clientHeight);
    this.laidHeight = this.scroller.clientHeight;
    const atRoot = this.scene === null || this.scene.direction !== this.source.direction();
    this.sizer.style.height = `${contentHeight}px`;
    if (this.source.direction() === 'up') {
      this.scroller.scrollTop = contentHeight - this.scroller.clientHeight - (atRoot ? 0 : this.bottomGap);
    } else if (atRoot) this.scroller.scrollTop = 0;
    return {
      view, rows, window: this.source.window(), direction: this.source.direction(), width, contentHeight,
      palette: paletteOf(this.model.state), colouring: this.model.colouring, mask: this.model.search.mask,
      fitter: this.fitter, rootText: this.source.rootText(), focus: this.nodeAtPath(view), hover: -1,
      focused: this.focused,
    };
  }

  draw() {
    const begin = performance.now();
    const scene = this.scene;
    const height = isPrinting() && scene ? Math.min(PAPER_HEIGHT, scene.contentHeight) : this.scroller.clientHeight;
    const width = this.scroller.clientWidth;
    const ratio = devicePixelRatio || 1;
    const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.fillStyle = paletteOf(this.model.state).back;
    this.context.fillRect(0, 0, width, height);
    if (!scene) return;
    scene.hover = this.hover;
    scene.focused = this.focused;
    const top = isPrinting() ? 0 : this.scroller.scrollTop;
    // A height that is not laid out for yet says nothing of where one has scrolled to.
    if (height === this.laidHeight) this.bottomGap = Math.max(0, scene.contentHeight - top - height);
    this.fitter.late = false;
    this.fitter.deadline = isPrinting() ? Infinity : begin + LABEL_MS;
    const boxes = paintFlame(this.context, scene, top, top + height);
    this.fitter.deadline = Infinity;
    if (this.fitter.late) this.schedule();
    this.drawn = { milliseconds: performance.now() - begin, boxes };
  }

  /** @returns {number} rows that are laid out */
  get rowCount() {
    return this.scene ? this.scene.rows.length : 0;
  }

  /** @returns {number} node */
  get focusNode() {
    return this.scene ? this.nodeAtPath(this.scene.view) : 0;
  }

  /**
   * @param {ViewTree} view
   * @returns {number} the node that has the focus
   */
  nodeAtPath(view) {
    return this.source.place ? Math.min(view.count - 1, this.source.place.nodeOf(this.focusPath)) : nodeOfPath(view, this.focusPath);
  }

  /** @param {import('./flame_painter.js').FlameScene} scene */
  showMirror(scene) {
    this.mirror.show(scene.view, this.focusNode, (node) => nodeLine(this.model, scene.view, node, this.source.rootText()));
  }

  /**
   * @param {PointerEvent | MouseEvent | WheelEvent} event
   * @returns {number} node below the pointer, or -1
   */
  nodeBelow(event) {
    const scene = this.scene;
    if (!scene) return -1;
    const box = this.canvas.getBoundingClientRect();
    const row = rowAtHeight(scene, event.clientY - box.top + this.scroller.scrollTop);
    const part = (event.clientX - box.left) / scene.width;
    return nodeAt(scene.view, scene.rows, row, scene.window[0] + part * (scene.window[1] - scene.window[0]));
  }

  /** @param {PointerEvent} event */
  onMove(event) {
    const node = event.pointerType === 'touch' ? -1 : this.nodeBelow(event);
    this.setHover(node);
    if (node >= 0 && this.scene) {
      this.card.show(detailsOfNode(this.model, this.scene.view, node, this.source.rootText()), event.clientX, event.clientY);
    }
  }

  /** @param {number} node */
  setHover(node) {
    if (node < 0) this.card.hide();
    if (node === this.hover) return;
    this.hover = node;
    this.canvas.style.cursor = node >= 0 ? 'pointer' : 'default';
    this.schedule();
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    const node = this.nodeBelow(event);
    if (node < 0) return;
    this.mirror.element.focus({ preventScroll: true });
    this.moveFocus(node);
    this.source.onOpen(node);
  }

  /** @param {WheelEvent} event with Ctrl or the command key: closer and farther; sideways: moves */
  onWheel(event) {
    const scene = this.scene;
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
    if (!scene || !(event.ctrlKey || event.metaKey || sideways)) return;
    event.preventDefault();
    const total = scene.view.total[0];
    const [from, to] = [scene.window[0] / total, scene.window[1] / total];
    if (sideways && !event.ctrlKey && !event.metaKey) {
      this.pan((event.deltaX || event.deltaY) / scene.width);
      return;
    }
    const box = this.canvas.getBoundingClientRect();
    const place = from + ((event.clientX - box.left) / scene.width) * (to - from);
    this.source.onWindow(zoomedWindow([from, to], place, WHEEL_STEP ** event.deltaY));
  }

  /** @param {number} part of what is shown */
  pan(part) {
    const scene = this.scene;
    if (!scene) return;
    const total = scene.view.total[0];
    const [from, to] = [scene.window[0] / total, scene.window[1] / total];
    const step = Math.min(1 - to, Math.max(-from, part * (to - from)));
    if (step !== 0) this.source.onWindow([from + step, to + step]);
  }

  /** @param {number} factor below 1: closer; around the focus */
  zoomAroundFocus(factor) {
    const scene = this.scene;
    if (!scene) return;
    const total = scene.view.total[0];
    const node = this.focusNode;
    const middle = scene.view.left[node] + scene.view.total[node] / 2;
    const place = Math.min(scene.window[1], Math.max(scene.window[0], middle)) / total;
    this.source.onWindow(zoomedWindow([scene.window[0] / total, scene.window[1] / total], place, factor));
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.scene) return;
    const out = event.key === 'Escape' || event.key === 'Backspace';
    const action = out ? null : this.actionOfKey(event.key, event.shiftKey);
    // What is no step out here may be one of the page.
    if (out ? !this.source.onLeave() : !action) return;
    event.preventDefault();
    event.stopPropagation();
    action?.();
  }

  /**
   * @param {string} key
   * @param {boolean} shift
   * @returns {(() => void) | null}
   */
  actionOfKey(key, shift) {
    const inwards = this.source.direction() === 'down' ? 'ArrowDown' : 'ArrowUp';
    const outwards = inwards === 'ArrowDown' ? 'ArrowUp' : 'ArrowDown';
    if (shift && (key === 'ArrowLeft' || key === 'ArrowRight')) return () => this.pan(key === 'ArrowLeft' ? -0.2 : 0.2);
    switch (key) {
      case inwards: return () => this.step('in');
      case outwards: return () => this.step('out');
      case 'ArrowLeft': return () => this.step('before');
      case 'ArrowRight': return () => this.step('after');
      case 'Home': return () => this.moveFocus(0);
      case 'Enter':
      case ' ': return () => this.source.onOpen(this.focusNode);
      case '+':
      case '=': return () => this.zoomAroundFocus(1 / 1.6);
      case '-': return () => this.zoomAroundFocus(1.6);
      default: return null;
    }
  }

  /** @param {'in' | 'out' | 'before' | 'after'} where */
  step(where) {
    const view = /** @type {import('./flame_painter.js').FlameScene} */ (this.scene).view;
    const node = this.focusNode;
    if (where === 'in') {
      const children = shownChildren(view, node);
      if (children.length > 0) this.moveFocus(heaviestOf(view, children));
    } else if (node !== 0 && where === 'out') {
      this.moveFocus(view.parent[node]);
    } else if (node !== 0) {
      const siblings = shownChildren(view, view.parent[node]);
      const place = siblings.indexOf(node) + (where === 'before' ? -1 : 1);
      if (siblings[place] !== undefined) this.moveFocus(siblings[place]);
    }
  }

  /** @param {number} node */
  moveFocus(node) {
    const scene = this.scene;
    if (!scene) return;
    this.focusPath = this.source.place ? this.source.place.pathOf(node) : pathOfNode(scene.view, node);
    scene.focus = node;
    this.showMirror(scene);
    this.showFocus(scene, node);
    this.schedule();
  }

  /**
   * Lays out another tree, with its root in sight and in focus.
   * @returns {number} rows
   */
  refreshFromRoot() {
    this.focusPath = [];
    this.scene = null;
    this.refresh();
    return this.rowCount;
  }

  /**
   * Lays out anew with the focus on the node at a path.
   * @param {number[]} path
   */
  refreshAt(path) {
    this.focusPath = path;
    this.refresh();
    if (!this.scene) return;
    this.makeRoom(this.scene, this.focusNode);
    this.showFocus(this.scene, this.focusNode);
  }

  /**
   * Brings a node that has little room for its children to where they have it.
   * @param {import('./flame_painter.js').FlameScene} scene
   * @param {number} node
   */
  makeRoom(scene, node) {
    const height = this.scroller.clientHeight;
    const place = topOfRow(scene, scene.view.depth[node]) - this.scroller.scrollTop;
    const fromRoot = scene.direction === 'down' ? place : height - place - ROW_HEIGHT;
    if (fromRoot < height * 0.6) return;
    const step = fromRoot - height * 0.25;
    this.scroller.scrollTop += scene.direction === 'down' ? step : -step;
  }

  /**
   * @param {import('./flame_painter.js').FlameScene} scene
   * @param {number} node
   */
  showFocus(scene, node) {
    this.scrollTo(topOfRow(scene, scene.view.depth[node]));
    this.source.onFocus(this, node);
  }

  /** @param {number} y brings a row into view */
  scrollTo(y) {
    const { scrollTop, clientHeight } = this.scroller;
    if (y < scrollTop) this.scroller.scrollTop = y;
    else if (y + ROW_HEIGHT > scrollTop + clientHeight) this.scroller.scrollTop = y + ROW_HEIGHT - clientHeight;
  }

  /**
   * @param {(node: number) => string} titleOf
   * @returns {{boxes: import('./svg_picture.js').PictureBox[], width: number, height: number} | null}
   */
  picture(titleOf) {
    const scene = this.layOut();
    if (!scene) return null;
    const used = { ...scene, contentHeight: scene.rows.length * ROW_HEIGHT };
    return { boxes: boxesOfScene(used, titleOf), width: used.width, height: used.contentHeight };
  }
}

/**
 * @param {ViewTree} view
 * @param {number[]} nodes
 * @returns {number}
 */
function heaviestOf(view, nodes) {
  return nodes.reduce((best, node) => (view.total[node] > view.total[best] ? node : best));
}
