// Training: after each pair its right answer is shown, and a key goes on. The answer comes from the
// server with the receipt of the label; without a connection one may go on and read it later.
import { post } from "./asking.js";
import { announce, page, part } from "./page.js";

const OFFLINE = "Your answer is kept here. What is right can be read once there is a connection: on your own page, or here if you wait.";

export class Training {
  #made = null; // the label whose answer is waited for or shown
  #isTold = false;
  #latest;      // what the server said last of how far one is

  // onGoOn(): the next pair, please.
  constructor({ onGoOn }) {
    this.onGoOn = onGoOn;
  }

  get isOpen() {
    return this.#made !== null;
  }

  // The label of a training pair was made.
  wait(made) {
    this.#made = made;
    this.#isTold = false;
    this.#show("Saving …", "", false);
  }

  // What the server says of how far one is; null: one is through, or there is no training.
  set(training) {
    this.#latest = training;
    if (!this.isOpen) this.#showFar(training);
  }

  #showFar(training) {
    part("training").hidden = !training;
    if (training) part("training").textContent = `Qualification ${training.done} of ${training.pairs}`;
  }

  hear(receipts = []) {
    const receipt = receipts.find((one) => one?.id === this.#made?.id);
    if (!receipt) return;
    if (receipt.training) this.#tell(receipt.training);
    else this.#show("This answer was not accepted.", receipt.message ?? "", true);
  }

  // state: of the outbox. Where another tab has sent the label, its receipt is asked for again.
  heed(state) {
    if (!this.#made || this.#isTold) return;
    if (state === "saved") this.#ask();
    else if (state !== "saving") this.#show("No connection", OFFLINE, true);
  }

  // Nothing is asked any more, and no answer comes.
  drop() {
    this.#made = null;
    part("told").hidden = true;
    part("go-on").disabled = true;
  }

  goOn() {
    if (!this.#made || part("go-on").disabled) return;
    this.#made = null;
    part("told").hidden = true;
    part("go-on").disabled = true;
    if (this.#latest !== undefined) this.#showFar(this.#latest);
    this.onGoOn();
  }

  async #ask() {
    const made = this.#made;
    try {
      const response = await post(page.dataset.labelsUrl, { labels: [made], count: 0 });
      const answer = await response.json();
      if (this.#made === made) this.hear(answer.labels);
    } catch {
      if (this.#made === made) this.#show("No connection", OFFLINE, true);
    }
  }

  #tell(told) {
    this.#isTold = true;
    const range = told.low === told.high ? gradeName(told.low) : `${gradeName(told.low)} to ${gradeName(told.high)}`;
    const { grade } = this.#made;
    const said = grade === null ? "You could not tell." : `You said ${gradeName(grade)}.`;
    const heading = told.is_right ? `Right: ${range}` : `${said} Right is ${range}.`;
    part("told").dataset.tone = told.is_right ? "good" : "warn";
    this.#show(heading, told.reason, true, outcome(told));
    if (told.state === "open" && told.counts) this.#showFar(told);
  }

  #show(heading, words, mayGoOn, result = "") {
    if (!this.#isTold) delete part("told").dataset.tone;
    part("told").hidden = false;
    part("told-heading").textContent = heading;
    part("told-words").textContent = words;
    part("told-result").textContent = result;
    part("go-on").disabled = !mayGoOn;
    if (mayGoOn) announce([heading, words, result].filter(Boolean).join(" "));
  }
}

function gradeName(code) {
  const button = page.querySelector(`[data-grade="${code}"]`);
  return button ? `${code} ${button.querySelector(".name").textContent}` : String(code);
}

function outcome({ counts, state, right, done, pairs, needed }) {
  if (!counts) return "Your first answer is the one that counts.";
  if (state === "passed") return `Passed: ${right} of ${pairs} right. What follows counts.`;
  if (state === "failed") return `${right} of ${pairs} right; ${needed} are needed.`;
  return `${done} of ${pairs} done, ${right} right; ${needed} are needed.`;
}
