// The flame chart: callstacks over time, a band for each thread.
import { chartBands, chartTree } from './chart_tree.js';
import { FlamePanel } from './flame_panel.js';
import { windowOfNode } from './flame_layout.js';
import { durationText } from './number_text.js';
import { make } from './page_elements.js';
import { timeMarks } from './time_axis.js';
import { brokenRootOf } from './unnamed_code.js';

export class ChartView {
  /**
   * @param {import('./page_model.js').PageModel} model
   * @param {import('./node_details.js').HoverCard} card
   * @param {(panel: FlamePanel, node: number) => void} onFocus
   */
  constructor(model, card, onFocus) {
    this.model = model;
    this.marks = make('div', { class: 'time-marks chart-marks', 'aria-hidden': 'true' });
    /** @type {[number, number] | null} what is shown, as fractions */
    this.window = null;
    this.panel = new FlamePanel(model, {
      id: 'chart', label: 'Flame chart: arrows move, Enter zooms', view: () => this.view,
      window: () => this.shownPart(), direction: () => 'down', leafFirst: () => false,
      rootText: () => `${durationText(this.view?.whole[0] ?? 0)}, a band for each thread, the heaviest first`,
      onOpen: (node) => {
        const { view } = this;
        if (view) this.zoomTo(/** @type {[number, number]} */ (windowOfNode(view, node).map((edge) => edge / view.total[0])));
      },
      onWindow: (window) => this.zoomTo(window),
      onLeave: () => {
        if (!this.window) return false;
        this.zoomTo(null);
        return true;
      },
      onFocus,
      // A function may stand many times below another one: a box is meant, and not a path of functions.
      place: { pathOf: (node) => [node], nodeOf: (path) => path[0] ?? 0 },
    }, card);
    this.empty = make('p', { class: 'empty' }, 'No samples with times are selected.');
    this.element = make('div', { class: 'chart' }, this.empty, this.marks, this.panel.element);
  }

  /** @returns {ViewTree | null} */
  get view() {
    const { model } = this;
    const { timeline } = model.profile;
    if (model.state.view !== 'chart' || !timeline || model.total === 0) return null;
    return model.memory.of('chart', [model.filterKey], () => {
      const range = model.state.range ?? [0, timeline.buckets - 1];
      return chartTree(model.rowTree, chartBands(model.profile, model.state), [range[0] * timeline.width, (range[1] + 1) * timeline.width],
        (thread) => model.owners.first + model.owners.processes + thread, brokenRootOf(model.profile, model.rowTree));
    });
  }

  /** @returns {[number, number]} ns */
  shownPart() {
    const all = this.view?.total[0] ?? 0;
    return this.window ? [this.window[0] * all, this.window[1] * all] : [0, all];
  }

  /** @param {[number, number] | null} window */
  zoomTo(window) {
    this.window = window && (window[0] > 0 || window[1] < 1) ? window : null;
    this.panel.refresh();
    this.showMarks();
  }

  showMarks() {
    const { timeline } = this.model.profile;
    const [from, to] = this.shownPart();
    const width = this.panel.scroller.clientWidth;
    const start = (this.model.state.range?.[0] ?? 0) * (timeline?.width ?? 0) + from;
    const first = timeMarks(to - from, Math.max(2, width / 110));
    this.marks.replaceChildren(...first.map(({ part }) => {
      const mark = make('span', {}, (1 - part) * width < 60 ? '' : durationText(start + part * (to - from)));
      mark.style.left = `${100 * part}%`;
      return mark;
    }));
  }

  /** @param {boolean} anew whether other samples count: what was zoomed to is no more */
  refresh(anew) {
    if (anew) this.window = null;
    const { view } = this;
    this.empty.hidden = view !== null;
    this.marks.hidden = this.panel.element.hidden = view === null;
    if (anew) this.panel.refreshFromRoot();
    else this.panel.refresh();
    this.showMarks();
  }
}
