/** The `Openapi` namespace: the document of an API, made from its routes. */
export { document, report } from "./document.ts";
export type { Document, DocumentOptions } from "./document.ts";
