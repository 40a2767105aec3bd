// Training: after each pair its right answer is shown, and a key goes on. The answer comes from the
// server with the receipt of the label; without a connection one may go on and read it later.
import { post } from "./api.js";
import { gradeWords } from "./label-words.js";
import { announce, config, part } from "./page.js";
import { format, gettext, NO_CONNECTION } from "./texts.js";
import { attemptWords, headingWords } from "./training-words.js";

/** @import { Attempt, Label, Receipt, SendState, TrainingResult } from "./types.js" */

const OFFLINE = gettext(
  "Your answer is kept here. The right grade is shown once the connection is back: here, or later under My work.",
);

export class Training {
  /** @type {Label | null} whose answer is waited for or shown */
  #label = null;
  #isAnswered = false;
  /** @type {Attempt | TrainingResult | null | undefined} as the server said last */
  #attempt;
  #onGoOn;

  /**
   * @param {object} handlers
   * @param {() => void} handlers.onGoOn the next pair, please
   */
  constructor({ onGoOn }) {
    this.#onGoOn = onGoOn;
  }

  get isOpen() {
    return this.#label !== null;
  }

  /**
   * The label of a training pair was made.
   * @param {Label} label
   */
  wait(label) {
    this.#label = label;
    this.#isAnswered = false;
    this.#show(gettext("Saving …"), "", false);
  }

  /**
   * @param {Attempt | null} attempt null: passed, or there is no training
   */
  set(attempt) {
    this.#attempt = attempt;
    if (!this.isOpen) this.#showAttempt(attempt);
  }

  /** @param {Attempt | TrainingResult | null} attempt */
  #showAttempt(attempt) {
    part("training").hidden = !attempt;
    if (attempt)
      part("training").textContent = format(gettext("Training: {done} of {pairs}"), {
        done: attempt.done,
        pairs: attempt.pairs,
      });
  }

  /** @param {Receipt[]} receipts */
  receive(receipts = []) {
    const label = this.#label;
    const receipt = label && receipts.find((one) => one?.id === label.id);
    if (!receipt) return;
    if (receipt.training) this.#showResult(receipt.training, label);
    else this.#show(gettext("This answer was not accepted."), receipt.message ?? "", true);
  }

  /**
   * The outbox has another state. Where another tab has sent the label, its receipt is asked for again.
   * @param {SendState} state
   */
  onSendState(state) {
    if (!this.#label || this.#isAnswered) return;
    if (state === "saved") this.#request(this.#label);
    else if (state !== "saving") this.#show(NO_CONNECTION, OFFLINE, true);
  }

  /** Nothing is asked any more, and no answer comes. */
  drop() {
    this.#label = null;
    part("told").hidden = true;
    part("go-on").disabled = true;
  }

  goOn() {
    if (!this.#label || part("go-on").disabled) return;
    this.drop();
    if (this.#attempt !== undefined) this.#showAttempt(this.#attempt);
    this.#onGoOn();
  }

  /** @param {Label} label */
  async #request(label) {
    try {
      const response = await post(config.labelsUrl, { labels: [label], count: 0 });
      const answer = await response.json();
      if (this.#label === label) this.receive(answer.labels);
    } catch {
      if (this.#label === label) this.#show(NO_CONNECTION, OFFLINE, true);
    }
  }

  /**
   * @param {TrainingResult} result
   * @param {Label} label
   */
  #showResult(result, label) {
    this.#isAnswered = true;
    part("told").dataset.tone = result.is_right ? "good" : "warn";
    this.#show(headingWords(result, label.grade, gradeWords), result.reason, true, attemptWords(result));
    if (result.state === "open" && result.counts) this.#showAttempt(result);
  }

  /**
   * @param {string} heading
   * @param {string} words
   * @param {boolean} mayGoOn
   * @param {string} result
   */
  #show(heading, words, mayGoOn, result = "") {
    if (!this.#isAnswered) delete part("told").dataset.tone;
    part("told").hidden = false;
    part("told-heading").textContent = heading;
    part("told-words").textContent = words;
    part("told-result").textContent = result;
    part("go-on").disabled = !mayGoOn;
    if (mayGoOn) announce([heading, words, result].filter(Boolean).join(" "));
  }
}
