// One document, as it is, with the query's words and the reasons marked. Each sheet scrolls by itself
// and lies in the same place as the others, so that the next ones are laid out, down to where their
// text starts, before they are needed; to show one is only to make it visible. A sheet that is not on
// the screen keeps its layout and has no part in any frame: only what asks for a place lays it out.
import { blocksOf } from "./blocks.js";
import { Fields } from "./fields.js";
import { fitFrame, scaleFrame, showFrame } from "./frame.js";
import { part } from "./page.js";
import { repeatedTitle } from "./repeated.js";
import { termsPattern } from "./terms.js";

const MOST_MARKS = 500;
const LONG = 3_000; // characters; a longer document starts at the first of the query's words
const NEAR = 40;    // pixels

export class Sheet {
  pair = null;
  fields = new Fields();
  terms = [];
  #parts = new Map(); // name → element
  #startedAt = 0;
  #isSettled = false;

  // onFrame(sheet): its frame is there only now.
  constructor(onFrame) {
    this.onFrame = onFrame;
    this.root = document.getElementById("sheet").content.firstElementChild.cloneNode(true);
    for (const element of this.root.querySelectorAll("[data-name]")) this.#parts.set(element.dataset.name, element);
    const scroll = this.part("scroll");
    // Whoever has scrolled by themselves knows where they are.
    scroll.addEventListener("scroll", () => {
      if (Math.abs(scroll.scrollTop - this.#startedAt) > NEAR) this.part("to-top").hidden = true;
    }, { passive: true });
    this.leave();
    part("stack").prepend(this.root);
  }

  part(name) {
    return this.#parts.get(name);
  }

  // Its parts are the page's from now on.
  enter() {
    for (const [name, element] of this.#parts) element.dataset.part = name;
    this.root.classList.remove("is-ahead");
    fitFrame(this.part("frame"));
  }

  leave() {
    for (const element of this.#parts.values()) delete element.dataset.part;
    this.root.classList.add("is-ahead");
  }

  // Gets the document's parts; what is to be seen of it first has its place only after settle().
  fill(pair) {
    this.pair = pair;
    this.#isSettled = false;
    const { title, url, fields, text, html } = pair.document;
    this.fields.clear();
    this.#fillTitle(title);
    this.#fillAddress(url);
    this.#fillFields(fields, title);
    this.#fillText(html ? "" : text, title);
    showFrame(this.part("frame"), html, (nodes) => {
      this.fields.add("html", nodes);
      this.#findTerms();
      this.onFrame(this);
    });
    const hasText = Boolean(text || html);
    // a product is its fields: then they are what is read
    this.part("stage").classList.toggle("only-fields", !hasText);
    this.part("empty-text").hidden = hasText || this.part("fields").childElementCount > 0;
    this.part("stage").hidden = false;
  }

  get isSettled() {
    return this.#isSettled;
  }

  settle() {
    this.#isSettled = true;
    this.#findTerms();
    this.#start();
  }

  empty() {
    this.pair = null;
    this.part("stage").hidden = true;
    this.part("to-top").hidden = true;
  }

  realign() {
    scaleFrame(this.part("frame"));
    this.#start();
  }

  #fillTitle(title) {
    this.part("title").textContent = title || "Untitled";
    if (title) this.fields.add("title", [this.part("title").firstChild]);
  }

  // Only http and https lead somewhere, and only on purpose: in a new tab that learns nothing of this one.
  #fillAddress(url) {
    const place = this.part("url");
    place.hidden = !url;
    const isLink = /^https?:\/\//i.test(url) && URL.canParse(url);
    if (!isLink) {
      place.textContent = url;
      return;
    }
    const link = document.createElement("a");
    Object.assign(link, { href: url, target: "_blank", rel: "noopener noreferrer", textContent: url });
    place.replaceChildren(link);
  }

  // What the title or a field above says already, word for word, is there but steps back.
  #fillFields(values, title) {
    const list = this.part("fields");
    list.replaceChildren();
    let said = ` ${title} `;
    for (const [name, value] of Object.entries(values ?? {})) {
      const row = document.createElement("div");
      const term = document.createElement("dt");
      const words = document.createElement("dd");
      term.textContent = name;
      words.textContent = value;
      words.dir = "auto";
      row.classList.toggle("again", said.includes(` ${words.textContent} `));
      said += `${words.textContent} `;
      row.append(term, words);
      list.append(row);
      this.fields.add(`fields.${name}`, [words.firstChild]);
    }
  }

  // Where the text says the title once more, that is there but not shown: places are counted from the text's start.
  #fillText(text, title) {
    const from = repeatedTitle(title, text);
    const rest = text.slice(from);
    const pieces = blocksOf(rest).map(({ start, end, isCode, rows }) => {
      const piece = document.createElement("div");
      piece.className = isCode ? "piece code" : "piece";
      piece.style.setProperty("--rows", rows);
      piece.append(rest.slice(start, end));
      return piece;
    });
    if (from > 0) {
      const again = document.createElement("span");
      again.hidden = true;
      again.append(text.slice(0, from));
      pieces.unshift(again);
    }
    this.part("text").replaceChildren(...pieces);
    this.fields.add("body", pieces.map((piece) => piece.firstChild), text, from);
  }

  #findTerms() {
    const pattern = termsPattern(this.pair.query.text);
    this.terms = pattern ? this.fields.matches(pattern, MOST_MARKS) : [];
  }

  #start() {
    const scroll = this.part("scroll");
    scroll.scrollTop = 0;
    const inText = this.terms.find((range) => this.part("text").contains(range.startContainer));
    const first = inText && this.pair.document.text.length > LONG && !this.pair.spans?.length ? inText : null;
    this.#layOutAround(first?.startContainer.parentNode ?? this.part("text").firstElementChild);
    if (first) this.bringIntoSight(first);
    this.#startedAt = scroll.scrollTop;
    this.part("to-top").hidden = this.#startedAt === 0;
  }

  // A screenful before and after this piece: what is seen first has its height, and not a guess of it.
  #layOutAround(piece) {
    const { clientHeight } = this.part("scroll");
    for (const side of ["previousElementSibling", "nextElementSibling"]) {
      let room = clientHeight;
      for (let one = piece; one && room > 0; one = one[side]) {
        one.classList.add("is-near");
        room -= one.offsetHeight;
      }
    }
  }

  bringIntoSight(range) {
    const scroll = this.part("scroll");
    const seen = scroll.getBoundingClientRect();
    // twice: what comes into sight is laid out only then, and may be higher than was guessed
    for (let time = 0; time < 2; time += 1) {
      const place = range.getBoundingClientRect();
      const frame = range.startContainer.ownerDocument.defaultView?.frameElement;
      const top = place.top + (frame?.getBoundingClientRect().top ?? 0);
      if (top >= seen.top + 8 && top + place.height <= seen.bottom - 8) return;
      scroll.scrollTop += top - seen.top - seen.height / 3;
    }
  }
}
