export { accept } from "./negotiation.ts";
export { bool } from "./codec.ts";
export { byteRanges } from "./conditions.ts";
export { cacheControl } from "./negotiation.ts";
export { credentials } from "./credentials.ts";
export { custom } from "./codec.ts";
export { date } from "./time.ts";
export { entityTag, entityTags } from "./conditions.ts";
export { enumeration as enum } from "./codec.ts";
export { float } from "./codec.ts";
export { forwarded } from "./forwarded.ts";
export { httpDate } from "./conditions.ts";
export { instant } from "./time.ts";
export { int } from "./codec.ts";
export { int32 } from "./codec.ts";
export { int64 } from "./codec.ts";
export { mediaType } from "./negotiation.ts";
export { basicLogin, bearerToken } from "./credentials.ts";
export { string } from "./codec.ts";
export { structuredDictionary, structuredItem, structuredList } from "./structured.ts";
export { uuid } from "./codec.ts";
export { weighted } from "./negotiation.ts";

export type { ByteRange, EntityTag, Ranges } from "./conditions.ts";
export type { MediaRange } from "./negotiation.ts";
export type { CacheDirective } from "./negotiation.ts";
export type { CalendarDate } from "./time.ts";
export type { AnyCodec, Codec, TextShape } from "./codec.ts";
export type { BasicLogin } from "./credentials.ts";
export type { Credentials } from "./credentials.ts";
export type { ForwardedElement } from "./forwarded.ts";
export type { MediaType } from "./negotiation.ts";
export type {
  StructuredDictionary,
  StructuredInnerList,
  StructuredItem,
  StructuredList,
  StructuredMember,
  StructuredParameters,
  StructuredValue,
} from "../http/structured-fields.ts";
export type { Weighted } from "./negotiation.ts";
