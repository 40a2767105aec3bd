// What this page has labelled: the one place where labels are made, and where those that the server
// refused are taken out of the counts and the history again.

import { LONGEST_PAIR_SECONDS } from "./constants.js";
import { amend, withdraw } from "./history.js";
import { gradeWords } from "./label-words.js";
import { duration, number } from "./numbers.js";
import { config } from "./page.js";
import { uuid } from "./tabs.js";
import { format, gettext, ngettext } from "./texts.js";

/** @import { Clock } from "./clock.js" */
/** @import { Outbox } from "./outbox.js" */
/** @import { PairQueue } from "./pair-queue.js" */
/** @import { Said } from "./page-state.js" */
/** @import { Progress } from "./progress.js" */
/** @import { Content, Entry, Label, Pair, Row } from "./types.js" */

/** @typedef {{ clock: Clock, outbox: Outbox, progress: Progress, queue: PairQueue }} OwnLabelsOptions */

export class OwnLabels {
  #options;
  /**
   * By label id, what a label changed in the count of done, and its entry in the history.
   * @type {Map<string, { counted: number, entry?: Entry }>}
   */
  #made = new Map();
  /** @type {Set<string>} ids of refused labels that are no news */
  #refusedBefore = new Set();
  #seconds = 0;

  /** @param {OwnLabelsOptions} options */
  constructor(options) {
    this.#options = options;
  }

  /** How many labels this page has made. */
  get count() {
    return this.#made.size;
  }

  /**
   * The pair on the screen has been labelled; its label.
   * @param {Pair} pair
   * @param {Said} said
   */
  finish(pair, said) {
    const { note = "", spans = [] } = pair;
    const { clock, progress, queue } = this.#options;
    const label = this.#make(pair, { note, spans, ...said }, 1);
    this.#remember(label, queue.finish(pair, label));
    if (!pair.is_training) progress.count(1, clock.seconds);
    this.#seconds += Math.min(clock.seconds, LONGEST_PAIR_SECONDS);
    return label;
  }

  /** What was labelled on this page, in words; empty where nothing was. */
  summary() {
    const { done } = this.#options.queue;
    if (done.length === 0) return "";
    const worst = -Infinity; // can't tell comes last
    const bestFirst = [...done].sort(
      (one, other) => (other.label.grade ?? worst) - (one.label.grade ?? worst),
    );
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const { label } of bestFirst) {
      const words = label.outcome === "graded" ? gradeWords(label.grade) : gettext("can’t tell");
      counts.set(words, (counts.get(words) ?? 0) + 1);
    }
    const each = [...counts].map(([words, count]) => `${words}: ${number(count)}`).join(", ");
    const text = ngettext(
      "This session: {count} label in {time} ({each}).",
      "This session: {count} labels in {time} ({each}).",
      done.length,
    );
    return format(text, { count: number(done.length), time: duration(this.#seconds), each });
  }

  /**
   * Corrects a label by another one, with these changes.
   * @param {Entry} entry
   * @param {Partial<Content>} changes
   */
  correct(entry, changes) {
    const label = this.#make(entry.pair, { ...entry.label, ...changes });
    this.#remember(label, entry);
    amend(entry, label);
  }

  /** @param {Entry} entry its pair is on the screen again */
  undo({ pair }) {
    const { progress, queue } = this.#options;
    this.#make(pair, { outcome: "retracted" }, -1);
    queue.bringBack(pair);
    if (!pair.is_training) progress.count(-1);
  }

  /** @param {Row[]} rows refused before this page was here: no news */
  knowRefused(rows) {
    for (const { label } of rows) this.#refusedBefore.add(label.id);
  }

  /**
   * Takes what the server has refused since the last look out of the counts and the history.
   * @param {Row[]} rows all that is refused
   * @returns what is new of it, and the entries that changed; one without `isLeft` has no label now
   */
  withdrawRefused(rows) {
    const { progress, queue } = this.#options;
    const news = rows.filter((row) => !this.#refusedBefore.has(row.label.id));
    /** @type {{ entry: Entry, isLeft: boolean }[]} */
    const changed = [];
    for (const { label } of news) {
      const { counted = 0, entry } = this.#made.get(label.id) ?? {};
      progress.count(-counted);
      if (!entry) continue;
      const isLeft = withdraw(entry, label.id);
      if (!isLeft) queue.forgetDone(entry);
      changed.push({ entry, isLeft });
    }
    this.knowRefused(news);
    return { news, changed };
  }

  /** @param {Row[]} rows refused labels that are sent again: what becomes of them is news */
  countAgain(rows) {
    for (const { label } of rows) {
      this.#refusedBefore.delete(label.id);
      this.#options.progress.count(this.#made.get(label.id)?.counted ?? 0);
    }
  }

  /**
   * @param {Pair} pair
   * @param {Said} said
   * @param {number} counted what it changes in the count of done
   */
  #make(pair, { outcome, grade = null, reason = "", note = "", spans = [] }, counted = 0) {
    const { clock, outbox } = this.#options;
    clock.settle();
    /** @type {Label} */
    const label = {
      id: uuid(),
      assignment: pair.assignment,
      outcome,
      grade,
      reason,
      note,
      spans,
      made_at: new Date().toISOString(),
      guideline_revision: Number(config.revision),
      content_hash: pair.content_hash,
      seconds: clock.seconds,
    };
    this.#made.set(label.id, { counted: pair.is_training ? 0 : counted });
    const { title, text, url } = pair.document;
    const about = { title: title || text.slice(0, 80) || url };
    outbox.add(label, { ...about, query: pair.query.text, description: pair.query.description });
    return label;
  }

  /**
   * @param {Label} label
   * @param {Entry} entry
   */
  #remember({ id }, entry) {
    this.#made.set(id, { counted: 0, ...this.#made.get(id), entry });
  }
}
