/** The app that a listener serves, requests of the standard `Request`, and the log lines of a listener. */
export { make } from "../app/app.ts";
export type { App, AppOptions } from "../app/app.ts";
export { DeclarationError, refuseCertificateReaders } from "../app/checks.ts";
export type { Middleware } from "../app/compile.ts";
export { CountedLog } from "../app/counted-log.ts";
export { logListener, logRefusedHead, logReported } from "../app/failures.ts";
export type { InFlightCounts } from "../app/failures.ts";
export {
  FetchExchange,
  announcesBody,
  lengthAt,
  ownLengthResponseOf,
  refusedRequest,
  responseOf,
  responseTo,
  tellsTypeAndId,
  unmade,
} from "../app/web.ts";
