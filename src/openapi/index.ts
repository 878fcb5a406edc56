/** The `Openapi` namespace: the OpenAPI document of the routes, and a page to read and try the API. */
export { docs } from "./docs.ts";
export type { DocsOptions } from "./docs.ts";
export type { DocsScript } from "./readers.ts";
export { document, report } from "./document.ts";
export type { Document, DocumentOptions } from "./document.ts";
export type { ApiInfo, ApiServer, Contact, License, TagText } from "./info.ts";
export type { ExternalDocs } from "../routing/meta.ts";
