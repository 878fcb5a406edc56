/** The script of the page's own reader: scripts/reader.mjs puts the text of `reader/`, bundled, between these quotes. */
export const script: string = "";
