// One document, as it is, with the query's words and the reasons marked. Each view scrolls by itself
// and lies in the same place as the others, so that the next ones are laid out, down to where their
// text starts, before they are needed; to show one is only to make it visible. A view that is not on
// the screen keeps its layout and has no part in any frame: only what asks for a place lays it out.
import { blocksOf } from "./blocks.js";
import { LONG_DOCUMENT, MOST_TERM_MATCHES, NEAR_START } from "./constants.js";
import { data, element } from "./dom.js";
import { Fields } from "./fields.js";
import { fitFrame, scaleFrame, showFrame } from "./frame.js";
import { scrollDistance } from "./offsets.js";
import { part } from "./page.js";
import { linkedPicturesOf } from "./pictures.js";
import { repeatedTitle } from "./repeated-title.js";
import { termsPattern } from "./terms.js";
import { gettext } from "./texts.js";

/** @import { DocumentPart, Pair } from "./types.js" */

const template = element(document, "#document-view", HTMLTemplateElement).content;

export class DocumentView {
  /** @type {Pair | null} */
  pair = null;
  fields = new Fields();
  /** @type {Range[]} where the query's words are */
  terms = [];
  /** @type {Map<string, HTMLElement>} by name */
  #parts = new Map();
  #startedAt = 0;
  #isSettled = false;
  #onFrame;

  /** @param {(view: DocumentView) => void} onFrame its frame is there only now */
  constructor(onFrame) {
    this.#onFrame = onFrame;
    const shell = /** @type {DocumentFragment} */ (template.cloneNode(true));
    this.root = element(shell, "*", HTMLElement);
    for (const named of shell.querySelectorAll("[data-name]")) {
      if (named instanceof HTMLElement) this.#parts.set(data(named, "name"), named);
    }
    const scroll = this.part("scroll");
    // after scrolling by hand one knows where one is
    scroll.addEventListener(
      "scroll",
      () => {
        if (Math.abs(scroll.scrollTop - this.#startedAt) > NEAR_START) this.part("to-top").hidden = true;
      },
      { passive: true },
    );
    this.leave();
    part("stack").prepend(this.root);
  }

  /**
   * @param {DocumentPart} name
   * @returns {HTMLElement}
   */
  part(name) {
    const found = this.#parts.get(name);
    if (!found) throw new Error(`the document's view has no part ${name}`);
    return found;
  }

  /** Its parts are the page's from now on. */
  enter() {
    for (const [name, named] of this.#parts) named.dataset.part = name;
    this.root.classList.remove("is-ahead");
    fitFrame(this.part("frame"));
  }

  leave() {
    for (const named of this.#parts.values()) delete named.dataset.part;
    this.root.classList.add("is-ahead");
  }

  /**
   * Gets the document's parts; what is to be seen of it first has its place only after settle().
   * @param {Pair} pair
   */
  fill(pair) {
    this.pair = pair;
    this.#isSettled = false;
    const { title, url, fields, text, html } = pair.document;
    this.fields.clear();
    this.#fillTitle(title);
    this.#fillAddress(url);
    this.#fillFields(fields, title);
    this.part("pictures").replaceChildren(...linkedPicturesOf(pair.document));
    this.#fillText(html ? "" : text, title);
    showFrame(this.part("frame"), html, (nodes) => {
      this.fields.add("html", nodes);
      this.#findTerms();
      this.#onFrame(this);
    });
    const hasText = Boolean(text || html);
    // a product is its fields: then they are what is read
    this.part("stage").classList.toggle("only-fields", !hasText);
    const hasMore = this.part("fields").childElementCount + this.part("pictures").childElementCount > 0;
    this.part("empty-text").hidden = hasText || hasMore;
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

  /** @param {string} title */
  #fillTitle(title) {
    const words = document.createTextNode(title || gettext("Untitled"));
    this.part("title").replaceChildren(words);
    if (title) this.fields.add("title", [words]);
  }

  /**
   * Only http and https lead somewhere, and only on purpose: in a new tab that learns nothing of this one.
   * @param {string} url
   */
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

  /**
   * What the title or a field above says already, word for word, is there but steps back.
   * @param {Record<string, string>} values
   * @param {string} title
   */
  #fillFields(values, title) {
    const list = this.part("fields");
    list.replaceChildren();
    let above = ` ${title} `;
    for (const [name, value] of Object.entries(values ?? {})) {
      const row = document.createElement("div");
      const term = document.createElement("dt");
      const definition = document.createElement("dd");
      const words = document.createTextNode(value);
      term.textContent = name;
      definition.append(words);
      definition.dir = "auto";
      row.classList.toggle("again", above.includes(` ${words.data} `));
      above += `${words.data} `;
      row.append(term, definition);
      list.append(row);
      this.fields.add(`fields.${name}`, [words]);
    }
  }

  /**
   * Where the text repeats the title, that is there but not shown: places are counted from the text's start.
   * @param {string} text
   * @param {string} title
   */
  #fillText(text, title) {
    const from = repeatedTitle(title, text);
    const rest = text.slice(from);
    /** @type {HTMLElement[]} */
    const elements = [];
    /** @type {Text[]} */
    const nodes = [];
    /**
     * @param {HTMLElement} piece
     * @param {string} words
     */
    const add = (piece, words) => {
      const node = document.createTextNode(words);
      piece.append(node);
      elements.push(piece);
      nodes.push(node);
    };
    if (from > 0) {
      const again = document.createElement("span");
      again.hidden = true;
      add(again, text.slice(0, from));
    }
    for (const { start, end, isCode, rows } of blocksOf(rest)) {
      const piece = document.createElement("div");
      piece.className = isCode ? "piece code" : "piece";
      piece.style.setProperty("--rows", String(rows));
      add(piece, rest.slice(start, end));
    }
    this.part("text").replaceChildren(...elements);
    this.fields.add("body", nodes, text, from);
  }

  #findTerms() {
    const pattern = this.pair && termsPattern(this.pair.query.text);
    this.terms = pattern ? this.fields.matches(pattern, MOST_TERM_MATCHES) : [];
  }

  #start() {
    if (!this.pair) return;
    const scroll = this.part("scroll");
    scroll.scrollTop = 0;
    const text = this.part("text");
    const inText = this.terms.find((range) => text.contains(range.startContainer));
    const isLong = this.pair.document.text.length > LONG_DOCUMENT;
    const first = inText && isLong && !this.pair.spans?.length ? inText : null;
    this.#layOutAround(first?.startContainer.parentElement ?? text.firstElementChild);
    if (first) this.bringIntoSight(first);
    this.#startedAt = scroll.scrollTop;
    this.part("to-top").hidden = this.#startedAt === 0;
  }

  /**
   * A screenful before and after this piece: what is seen first has its height, and not a guess of it.
   * @param {Element | null} piece
   */
  #layOutAround(piece) {
    const { clientHeight } = this.part("scroll");
    for (const side of /** @type {const} */ (["previousElementSibling", "nextElementSibling"])) {
      let room = clientHeight;
      for (let one = piece; one && room > 0; one = one[side]) {
        one.classList.add("is-near");
        if (one instanceof HTMLElement) room -= one.offsetHeight;
      }
    }
  }

  /** @param {Range} range */
  bringIntoSight(range) {
    const scroll = this.part("scroll");
    const seen = scroll.getBoundingClientRect();
    // twice: what comes into sight is laid out only then, and may be higher than was guessed
    for (let time = 0; time < 2; time += 1) {
      const place = range.getBoundingClientRect();
      const frame = range.startContainer.ownerDocument?.defaultView?.frameElement;
      const top = place.top + (frame?.getBoundingClientRect().top ?? 0);
      const distance = scrollDistance({ top, height: place.height }, seen);
      if (distance === 0) return;
      scroll.scrollTop += distance;
    }
  }
}
