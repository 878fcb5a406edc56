/** The `Openapi` namespace: the document of an API, made from its routes, and a page to read and try it. */
export { docs } from "./docs.ts";
export type { DocsOptions } from "./docs.ts";
export { document, report } from "./document.ts";
export type { Document, DocumentOptions } from "./document.ts";
