/**
 * The script of the page's own reader: scripts/reader.mjs puts the text of `reader/`, bundled, in the place of this one. Only
 * Bun, which reads `paths` of tsconfig.json, runs the sources as they are.
 */
export const script: string =
  "globalThis.usherReader = (app) => (app.textContent = 'These are the sources: npm run build makes this page.');";
