export { accept } from "./accept.ts";
export { bool } from "./bool.ts";
export { cacheControl } from "./cache-control.ts";
export { credentials } from "./credentials.ts";
export { custom } from "./custom.ts";
export { date } from "./date.ts";
export { enumeration as enum } from "./enumeration.ts";
export { float } from "./float.ts";
export { forwarded } from "./forwarded.ts";
export { instant } from "./instant.ts";
export { int } from "./int.ts";
export { int64 } from "./int64.ts";
export { mediaType } from "./media-type.ts";
export { basicLogin, bearerToken } from "./proof.ts";
export { string } from "./string.ts";
export { structuredDictionary, structuredItem, structuredList } from "./structured.ts";
export { uuid } from "./uuid.ts";
export { weighted } from "./weighted.ts";

export type { MediaRange } from "./accept.ts";
export type { CacheDirective } from "./cache-control.ts";
export type { CalendarDate } from "./calendar.ts";
export type { AnyCodec, Codec, TextShape } from "./codec.ts";
export type { BasicLogin } from "./proof.ts";
export type { Credentials } from "./credentials.ts";
export type { ForwardedElement } from "./forwarded.ts";
export type { MediaType } from "./media-type.ts";
export type {
  StructuredDictionary,
  StructuredInnerList,
  StructuredItem,
  StructuredList,
  StructuredMember,
  StructuredParameters,
  StructuredValue,
} from "./structured-types.ts";
export type { Weighted } from "./weighted.ts";
