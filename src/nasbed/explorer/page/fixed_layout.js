// Drawings and edits of cells that differ in the operation of each slot alone: made from one drawing and the operations
// of every row, so that an exported page can show all of its rows.

/** From what an export says of such a space: `{slots, slot_titles, options, codes, diagram}`, `codes` as bytes. */
export class FixedLayout {
  #rows = new Map();

  constructor({ slots, slot_titles, options, codes, diagram }) {
    Object.assign(this, { slots, slot_titles, options, codes, cells: diagram });
    for (let row = 0; row < codes.length / slots.length; row++) this.#rows.set(key(this.#code(row)), row);
  }

  /** The drawing of a row. */
  diagram(row) {
    const code = this.#code(row);
    const drawn = (node) => {
      const place = this.slots.indexOf(node.edit);
      if (place < 0) return node;
      return { ...node, ...this.options[code[place]] };
    };
    return this.cells.map((cell) => ({ ...cell, nodes: cell.nodes.map(drawn) }));
  }

  /** Every change of one slot to another option, as `{slot, slot_title, from, to, row}`, if its row is here. */
  edits(row) {
    const code = this.#code(row);
    return this.slots.flatMap((slot, place) =>
      this.options.flatMap(({ label }, option) => {
        if (option === code[place]) return [];
        const target = this.#rows.get(key(code.with(place, option)));
        return target === undefined
          ? []
          : [
              {
                slot,
                slot_title: this.slot_titles[place],
                from: this.options[code[place]].label,
                to: label,
                row: target,
              },
            ];
      }),
    );
  }

  #code(row) {
    return this.codes.subarray(row * this.slots.length, (row + 1) * this.slots.length);
  }
}

function key(code) {
  return String.fromCharCode(...code);
}
