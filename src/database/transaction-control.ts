// Savepoints are a transaction's own affair; its beginning and its end are not.
const controls =
  /^\s*(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/i;

/** Whether a statement begins or ends a transaction. */
export function controlsTransaction(sql: string): boolean {
  return controls.test(sql);
}
