// The columns of an overview, unpacked from the bytes of /api/points.

const ARRAYS = { f4: Float32Array, u1: Uint8Array, u2: Uint16Array };

/** `{rows, columns: Map of key to {values, labels}}`. The arrays are views of the buffer. */
export function unpacked(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const columns = new Map();
  let offset = 4 + length;
  for (const { key, type, labels } of header.columns) {
    const values = new ARRAYS[type](buffer, offset, header.rows);
    columns.set(key, { values, labels: labels ?? null });
    offset += Math.ceil(values.byteLength / 4) * 4;
  }
  return { rows: header.rows, columns };
}
