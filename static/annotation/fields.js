// The texts of a document on the screen, by the names under which labels mark places in them:
// title, body, html, and fields.NAME. Offsets outside of here are in characters, as the server
// counts them; the screen counts UTF-16 units.

const toCharacters = (text, unit) => [...text.slice(0, unit)].length;

function toUnit(text, characters) {
  let unit = 0;
  for (let count = 0; count < characters && unit < text.length; count += 1) {
    unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
  }
  return unit;
}

export class Fields {
  #fields = new Map(); // name → {text, from, nodes: [{node, start}]}, nodes in order

  clear() {
    this.#fields.clear();
  }

  // nodes: the text nodes that show the field's text, one after the other. from: where what is to be
  // seen of it begins; what comes before is neither found nor marked.
  add(name, nodes, text = nodes.map((node) => node.data).join(""), from = 0) {
    let start = 0;
    const placed = nodes.map((node) => {
      const place = { node, start };
      start += node.length;
      return place;
    });
    if (start > 0) this.#fields.set(name, { text, from, nodes: placed });
  }

  // Ranges of all matches in reading order, at most so many.
  matches(pattern, most) {
    const ranges = [];
    for (const field of this.#fields.values()) {
      pattern.lastIndex = field.from; // matchAll begins there
      for (const match of field.text.matchAll(pattern)) {
        if (match[0]) ranges.push(this.#range(field, match.index, match.index + match[0].length));
        if (ranges.length >= most) return ranges;
      }
    }
    return ranges;
  }

  // The places of a range as spans; several where it reaches over several fields.
  spansOf(range) {
    const spans = [];
    for (const [name, field] of this.#fields) {
      let from = Infinity;
      let to = -1;
      for (const { node, start } of field.nodes) {
        if (start < field.from || node.ownerDocument !== range.startContainer.ownerDocument || !range.intersectsNode(node)) continue;
        from = Math.min(from, start + (range.startContainer === node ? range.startOffset : 0));
        to = Math.max(to, start + (range.endContainer === node ? range.endOffset : node.length));
      }
      while (from < to && !field.text[from].trim()) from += 1;
      while (to > from && !field.text[to - 1].trim()) to -= 1;
      if (from >= to) continue;
      spans.push({ field: name, start: toCharacters(field.text, from), end: toCharacters(field.text, to) });
    }
    return spans;
  }

  // A span's range and words; undefined where the document has no such place.
  find(span) {
    const field = this.#fields.get(span.field);
    if (!field) return undefined;
    const start = toUnit(field.text, span.start);
    const end = toUnit(field.text, span.end);
    if (start >= end) return undefined;
    return { range: this.#range(field, start, end), words: field.text.slice(start, end) };
  }

  #range(field, start, end) {
    const range = field.nodes[0].node.ownerDocument.createRange();
    const from = this.#place(field, start);
    const to = this.#place(field, end - 1);
    range.setStart(from.node, start - from.start);
    range.setEnd(to.node, end - to.start);
    return range;
  }

  // The node that shows a character, by halving: a long document has hundreds.
  #place({ nodes }, unit) {
    let low = 0;
    let high = nodes.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (nodes[middle].start <= unit) low = middle;
      else high = middle - 1;
    }
    return nodes[low];
  }
}
