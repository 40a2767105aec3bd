// The shapes that the labelling page's modules share: types alone, for `tsc`; nothing here runs.
// What the server answers is in docs/rest.md, under Labelling.

/**
 * A place in a document's text, in characters. `field`: title, body, html or fields.NAME.
 * @typedef {{ field: string, start: number, end: number }} Span
 */

/**
 * `id` is opaque, and another for every annotator.
 * @typedef {{ id: string, text: string, description: string }} Query
 */

/**
 * A picture of a document; without a `url`, `note` says why.
 * @typedef {{ url: string, size: "small" | "medium" | "large", note: string }} ShownPicture
 */

/**
 * @typedef {object} ShownDocument
 * @property {string} title
 * @property {string} text empty where there is `html`
 * @property {string} html cleaned by the server
 * @property {string} url
 * @property {Record<string, string>} fields
 * @property {ShownPicture[]} [pictures]
 */

/**
 * A pair as the server hands it out, with what this page adds: a note and spans before it is labelled.
 * @typedef {object} Pair
 * @property {string} assignment
 * @property {string} name the same where the pair is handed out again under another assignment
 * @property {Query} query
 * @property {ShownDocument} document
 * @property {string} content_hash
 * @property {boolean} [is_training]
 * @property {number} [doneInQuery] labelled of its query when it was handed out
 * @property {string} [note]
 * @property {Span[]} [spans]
 */

/** @typedef {"graded" | "unsure" | "unjudgeable" | "retracted"} Outcome */

/**
 * What a label says of its pair.
 * @typedef {object} Content
 * @property {Outcome} outcome
 * @property {number | null} grade null unless graded
 * @property {string} reason
 * @property {string} note
 * @property {Span[]} spans
 */

/**
 * A label that holds: what it says, and when it was made (ISO 8601).
 * @typedef {Content & { id: string, made_at: string }} HeldLabel
 */

/**
 * A label as it is sent. `seconds`: of active time.
 * @typedef {HeldLabel & { assignment: string, guideline_revision: number, content_hash: string, seconds: number }} Label
 */

/**
 * A labelled pair. `label` holds; `earlier`: what this page said of it before, the oldest first.
 * @typedef {{ pair: Pair, label: HeldLabel, earlier: HeldLabel[] }} Entry
 */

/** @typedef {{ done: number, left: number }} Counts */

/** @typedef {{ number: number, done: number, pairs: number, needed: number }} Attempt */

/**
 * The right answer of a training pair: a grade from `low` to `high`, and the attempt as it stands then.
 * `counts`: this label was the first of its pair.
 * @typedef {object} TrainingResult
 * @property {number} low
 * @property {number} high
 * @property {string} reason
 * @property {boolean} is_right
 * @property {boolean} counts
 * @property {number} right
 * @property {number} done
 * @property {number} pairs
 * @property {number} needed
 * @property {"open" | "passed" | "failed"} state
 */

/**
 * What became of a label.
 * @typedef {object} Receipt
 * @property {string} id
 * @property {"stored" | "repeated" | "refused"} status
 * @property {boolean} [surplus] others had filled its pair
 * @property {TrainingResult} [training]
 * @property {string} [code]
 * @property {string} [message]
 */

/**
 * What comes with pairs. Labels sent with `count: 0` bring none.
 * @typedef {object} Answer
 * @property {Pair[]} [pairs]
 * @property {Receipt[]} [labels]
 * @property {boolean} [is_open]
 * @property {string} [paused] why nothing is asked for the moment
 * @property {Attempt | null} [training] null: no qualification is under way
 * @property {number} [guideline_revision]
 * @property {number} [news] answers and announcements of leads that were not read
 * @property {Counts} [progress]
 * @property {{ labels: number, seconds: number }} [pace] of today
 * @property {number} [rest] more pairs that are leased to this person
 * @property {Record<string, number>} [done_in_query] by assignment
 */

/** @typedef {{ code?: string, detail?: string }} Problem RFC 9457 */

/** @typedef {{ count: number, characters?: number, held?: string[], begins?: boolean }} Wish */

/** @typedef {{ query?: string, description?: string, title?: string }} About what a label is listed with */

/**
 * Why the server refused a label. Pages of before an update kept only the message.
 * @typedef {string | { code?: string, message?: string }} Refusal
 */

/**
 * A label in the browser's database, or in memory where the browser had no room (`isLoose`). `n`: its order.
 * @typedef {object} Row
 * @property {number} n
 * @property {string} desk
 * @property {Label} label
 * @property {About} [about]
 * @property {Refusal | null} [refused]
 * @property {boolean} [isLoose]
 */

/** @typedef {"saved" | "saving" | "offline" | "signed-out" | "other-account"} SendState */

/** @typedef {{ waiting: number, state: SendState, refused?: number }} SendReport */

/** @typedef {{ shown: SendState | "refused", unsaved: number }} SavingReport */

/**
 * What the page is about. labelling: a pair to label. reviewing: a label of before, or none that fits the
 * filter. notice: the right answer of a training pair. waiting: for pairs. signed-out: the same, and they
 * need a sign-in. query: a row of the list of a query. finished: there are none. closed: to this person. elsewhere: another tab labels.
 * @typedef {"waiting" | "labelling" | "reviewing" | "notice" | "query" | "signed-out" | "finished" | "closed" | "elsewhere"} Mode
 */

/** @typedef {"key" | "click"} Press */

/**
 * The labelling page's configuration: `data-*` of `#label-page`.
 * @typedef {object} PageConfig
 * @property {string} account
 * @property {string} campaign
 * @property {string} revision of the guideline; newer once its change has been read
 * @property {string} username
 * @property {string} login
 * @property {string} logout
 * @property {string} leaseMinutes
 * @property {string} labelsUrl
 * @property {string} releaseUrl
 * @property {string} skipUrl
 * @property {string} guidelineUrl
 * @property {string} preferencesUrl
 * @property {string} askUrl
 * @property {string} newsUrl
 * @property {string} questionsScript
 */

/** @typedef {"scroll" | "stage" | "title" | "url" | "fields" | "marks" | "pictures" | "empty-text" | "frame" | "text" | "to-top"} DocumentPart */

/**
 * @typedef {DocumentPart | "back" | "bar" | "description" | "done" | "end" | "end-heading" | "end-here" | "end-home" | "end-refused"
 *   | "end-review" | "end-summary" | "end-undo" | "end-words" | "found" | "in-query" | "list" | "list-count" | "list-leave" | "list-rows" | "live" | "loading" | "flash" | "news" | "news-count" | "note-mark" | "notes"
 *   | "pace" | "query" | "query-card" | "recent" | "recent-list" | "refused" | "refused-count" | "said" | "sign-in-again" | "sign-in-words"
 *   | "stack" | "state" | "state-words" | "told" | "told-heading" | "told-result" | "told-words" | "total"
 *   | "training" | "wait"} PlainPart
 */

/**
 * The labelling page's parts, by `data-part`.
 * @typedef {{ [name in PlainPart]: HTMLElement } & {
 *   "back-filter": HTMLSelectElement,
 *   "bar-done": HTMLProgressElement,
 *   "find": HTMLFormElement,
 *   "go-on": HTMLButtonElement,
 *   "sign-in": HTMLFormElement,
 * }} Parts
 */

/** @typedef {"cannot" | "change" | "guideline" | "keys" | "note" | "questions" | "refused" | "skip"} DialogName */
