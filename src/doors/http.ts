/** What RFC 9110 and RFC 9112 say of text: fields, targets, addresses, bytes. */
export { networkOfClient, peerAddress } from "../http/addresses.ts";
export {
  byteLength,
  decodeBase64url,
  encodeBase64,
  encodeBase64url,
  encodeHex,
  isBytes,
  losslessBytes,
} from "../http/bytes.ts";
export { contentDisposition } from "../http/disposition.ts";
export {
  FieldScanner,
  fieldValue,
  fieldsOf,
  httpDate,
  lists,
  readWord,
  stripped,
  token,
  withOneCookie,
} from "../http/fields.ts";
export { retryAfterMs } from "../http/retry-after.ts";
export { decodeSegment, encodeSegment, endOfAuthority, isHost } from "../http/target.ts";
