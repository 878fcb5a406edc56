/**
 * Every sentence of the framework's that a client may see, as it stands where it is made; a key names it for good. The
 * sentences are looked up by their text: an app without languages has nothing of this.
 */
export const english = {
  // The framework's refusals.
  notFound: "There is nothing here.",
  methodNotAllowed: "That is not something you can do here.",
  unreadableRequest: "That request could not be read.",
  invalid: "Some of that request is not what it should be.",
  tooLarge: "That request is too large.",
  busy: "The server is busy. Please try again in a moment.",
  timedOut: "That took too long, and was ended.",
  outcomeUnknown: "That took too long, and may be done or not. Please look before you try again.",
  crossOrigin: "That request came from another site, so it was not carried out.",
  notImplemented: "That is not something this server does.",
  upgradeRequired: "This address opens a WebSocket, and nothing else.",
  internal: "Something went wrong at our end. Please try again.",
  rateLimited: "That was asked too often. Please try again in a moment.",
  unsupportedMediaType: "That request's body is not in a form this can read.",
  notVerified: "That request's signature is not valid.",
  signedOut: "Please sign in.",
  notAllowed: "You may not do that.",
  signInFailed: "That sign-in did not work. Please start it again.",
  signInRefused: "That sign-in was cancelled, or is not allowed.",
  signInUnavailable: "Signing in is not possible now. Please try again in a moment.",
  idempotencyKeyInUse: "The first request with this key is being answered. Please try again in a moment.",
  idempotencyKeyReused: "This key was sent with another request. Please use a new one.",
  idempotencyAnswerLost:
    "A request with this key was received before, and its answer is not known. Please look whether it was done.",
  rangeNotSatisfiable: "That part of it does not exist.",
  preconditionFailed: "This has changed since it was read. Read it again, and then repeat the request.",
  preconditionRequired: "This needs If-Match with the ETag of the version that was read.",
  stopping: "Not ready: stopping.",
  webSocketVersion: "This server speaks version 13 of WebSockets.",

  // What a code means: the title of a problem of RFC 9457, where its type is set.
  docNotFound: "Nothing is here.",
  docMethodNotAllowed: "The path is answered, but not by this method; Allow lists those.",
  docUnreadable: "The body could not be read as sent: cut short, malformed, or too slow to arrive.",
  docInvalid: "Inputs are not what the route reads; each problem says where.",
  docTooLarge: "The body is longer than the server takes.",
  docBusy: "Something the request needed did not come free in time; try again.",
  docTimedOut:
    "The answer was not made in the time that the request has; what the route does was ended where it can be.",
  docOutcomeUnknown:
    "The time of the request ended while its work was committed: it may be done or not. Look before you send it again.",
  docCrossOrigin: "A browser sent a request that changes something from another site.",
  docNotImplemented: "The method is not one this server implements.",
  docUpgradeRequired: "The address is a WebSocket, answered only to a request that opens one; Upgrade says which.",
  docInternal: "The server's fault.",
  docNotReady: "Something the server needs to serve did not answer.",
  docRateLimited: "The caller asked more often than the route allows; Retry-After says when to ask again.",
  docUnsupportedMediaType: "The body is sent as something the route does not read.",
  docNotVerified: "Its signature is not one of the sender's, is too old, or was received before.",
  docSignedOut: "The credential is missing, wrong or too old.",
  docNotAllowed: "The credential does not allow this.",
  docSignInFailed: "The answer of the issuer does not belong to a sign-in of this browser, or it does not hold.",
  docSignInRefused: "The user cancelled the sign-in, or the issuer does not allow it.",
  docSignInUnavailable: "The issuer of the sign-in does not answer, or not as it should.",
  docIdempotencyKeyInUse: "The first request with this idempotency key is being answered; send it again in a moment.",
  docIdempotencyKeyReused: "This idempotency key was sent with another method, path, query or body before.",
  docIdempotencyAnswerLost:
    "A request with this idempotency key was received before, and its answer is not known: look whether it was done.",
  docRangeNotSatisfiable: "No byte is in the ranges that Range names; Content-Range says how many there are.",
  docPreconditionFailed:
    "The resource has changed since the caller read it; If-Match and its kin said which version was meant.",
  docPreconditionRequired: "The request must say which version it is meant for, by If-Match.",

  // Statuses: the title of any other problem of RFC 9457.
  status400: "Bad Request",
  status401: "Unauthorized",
  status402: "Payment Required",
  status403: "Forbidden",
  status404: "Not Found",
  status405: "Method Not Allowed",
  status406: "Not Acceptable",
  status407: "Proxy Authentication Required",
  status408: "Request Timeout",
  status409: "Conflict",
  status410: "Gone",
  status411: "Length Required",
  status412: "Precondition Failed",
  status413: "Content Too Large",
  status414: "URI Too Long",
  status415: "Unsupported Media Type",
  status416: "Range Not Satisfiable",
  status417: "Expectation Failed",
  status421: "Misdirected Request",
  status422: "Unprocessable Content",
  status423: "Locked",
  status424: "Failed Dependency",
  status425: "Too Early",
  status426: "Upgrade Required",
  status428: "Precondition Required",
  status429: "Too Many Requests",
  status431: "Request Header Fields Too Large",
  status451: "Unavailable For Legal Reasons",
  status500: "Internal Server Error",
  status501: "Not Implemented",
  status502: "Bad Gateway",
  status503: "Service Unavailable",
  status504: "Gateway Timeout",
  status507: "Insufficient Storage",
  status511: "Network Authentication Required",

  // Problems of any input.
  required: "This is required.",
  unreadable: "This could not be read.",
  notText: "This is not text.",
  givenTwice: "This is given more than once.",
  ownPath: "This must be a path of this site, like /orders.",
  notMultipart: "This is not a multipart form.",
  noBoundary: "This names no boundary.",
  unknownCharset: "This charset is not supported.",
  webSocketConnection: "A WebSocket is opened with Connection: upgrade.",
  webSocketKey: "This is not a WebSocket key.",

  // Problems of JSON.
  notJson: "This is not JSON.",
  tooDeep: "This is nested more than 512 deep.",
  fraction: "This must be a whole number, not a fraction.",
  unknownMember: "This is not a member this object has.",
  numberTooLargeToRead: "This number is too large to be read.",
  numberTooSmall: "This is smaller than a number can hold.",
  numberTooLarge: "This is larger than a number can hold.",
  wholeTooSmall: "This is smaller than a whole number here can hold.",
  wholeTooLarge: "This is larger than a whole number here can hold.",
  whole64TooSmall: "This is smaller than a 64-bit whole number can hold.",
  whole64TooLarge: "This is larger than a 64-bit whole number can hold.",
  wholeWithFractionTooSmall: "This is smaller than a whole number written with a fraction can hold.",
  wholeWithFractionTooLarge: "This is larger than a whole number written with a fraction can hold.",
  instantOutside: "This instant is outside the years 0000 to 9999 once in UTC.",

  // Formats of text.
  base64: "This must be bytes in base64, padded to a multiple of four.",
  bic: "This must be a BIC, like DEUTDEFF500.",
  creditCard: "This must be the number of a payment card.",
  cuid2: "This must be a CUID2, like tz4a98xxat96iws9zmbrgj3a.",
  decimal: "This must be a number in decimal digits, like 12.5.",
  digits: "This must be digits and nothing else.",
  domain: "This must be a domain name, like example.com.",
  email: "This must be an email address, like lee@example.com.",
  emoji: "This must be emoji and nothing else.",
  hash: "This must be a hash in hexadecimal digits.",
  hexColor: "This must be a color in hexadecimal digits, like #3366cc.",
  hexadecimal: "This must be a number in hexadecimal digits, like 0x1f.",
  imei: "This must be an IMEI.",
  ip: "This must be an IP address, like 192.0.2.1 or 2001:db8::1.",
  ipv4: "This must be an IPv4 address, like 192.0.2.1.",
  ipv6: "This must be an IPv6 address, like 2001:db8::1.",
  isbn: "This must be an ISBN.",
  date: "This must be a date written as YYYY-MM-DD, like 2026-09-30.",
  dateTime: "This must be a date and a time written as YYYY-MM-DDThh:mm, like 2026-09-30T12:00.",
  dateTimeSecond: "This must be a date and a time written as YYYY-MM-DDThh:mm:ss, like 2026-09-30T12:00:00.",
  time: "This must be a time written as hh:mm, like 12:00.",
  timeSecond: "This must be a time written as hh:mm:ss, like 12:00:00.",
  instant: "This must be an instant written as RFC 3339 has it, like 2026-09-30T12:00:00Z.",
  week: "This must be a week written as YYYY-Www, like 2026-W40.",
  isrc: "This must be an ISRC, like USRC17607839.",
  jwsCompact: "This must be a JWS in its compact form.",
  ksuid: "This must be a KSUID.",
  mac: "This must be a MAC address, like 00:00:5e:00:53:01.",
  mac48: "This must be a 48-bit MAC address, like 00:00:5e:00:53:01.",
  mac64: "This must be a 64-bit MAC address, like 00:00:5e:ef:10:00:00:01.",
  mimeType: "This must be a media type.",
  nanoid: "This must be a Nano ID.",
  octal: "This must be a number in octal digits, like 0o17.",
  slug: "This must be a slug, like two-words.",
  ulid: "This must be a ULID, like 01arz3ndektsv4rrffq69g5fav.",
  uri: "This must be a URI with its scheme, like https://example.com/path.",
  uuid: "This must be a UUID, like 01890a5d-ac96-7a3b-9e5a-5f1c2a7b8c9d.",
  numberAsText: "This must be a number written as text.",
  jsonAsText: "This must be JSON written as text.",

  // Texts that a codec cannot read.
  notWhole: "This is not a whole number.",
  notNumber: "This is not a number.",
  notBoolean: "This is not true or false.",
  notUuid: "This is not a UUID.",
  notDate: "This is not a date, as 2026-09-30.",
  notInstant: "This is not an instant, as 2026-09-30T12:00:00Z.",
  notHttpDate: "This is not a date of HTTP, as Sun, 06 Nov 1994 08:49:37 GMT.",
  notOurs: "This is not a value this server wrote.",
  notCredentials: "This is not credentials.",
  notEntityTag: "This is not an entity tag.",
  notEntityTags: "This is not a list of entity tags.",
  notIdempotencyKey: "This is not an idempotency key, which is a text in quotes.",
  notByteRanges: "This is not ranges, as bytes=0-499.",
  notMediaType: "This is not a media type.",
  notWeighted: "This is not a list of weighted tokens.",
  notAccept: "This is not an Accept value.",
  notCacheControl: "This is not a Cache-Control value.",
  notForwarded: "This is not a Forwarded value.",
  notStructuredItem: "This is not a structured item.",
  notStructuredList: "This is not a structured list.",
  notStructuredDictionary: "This is not a structured dictionary.",

  // Parts of the sentences with parameters.
  aNull: "null",
  aBoolean: "true or false",
  aNumber: "a number",
  aWhole: "a whole number",
  aText: "text",
  aList: "a list",
  anObject: "an object",
  anyJson: "any JSON",
  anotherInstant: "another instant",
  nothing: "nothing at all",
  noWords: "no words at all",
  somethingElse: "something else",
} as const;

/** The name of a sentence, or of a part of one. */
export type SentenceKey = keyof typeof english;

/** How a value is bounded. */
export type BoundKind = "atLeast" | "atMost" | "greaterThan" | "lessThan" | "multipleOf";
/** How a length is bounded. */
export type SizeKind = "atLeast" | "atMost" | "exactly";
/** What a length is counted in. */
export type SizeUnit = "character" | "byte" | "grapheme" | "word" | "item" | "member";

/** The sentences with parameters. No parameter is ever what a client sent: they are bounds and words of your shapes. */
export interface SentenceRules {
  /** `This must be a number or null, not text.` Both are parts of the table, joined by the language's own `or`. */
  readonly wrongType: (given: { readonly expected: string; readonly got: string }) => string;
  /** `This must be one of "a", "b" or "c".` */
  readonly oneOf: (given: { readonly words: string }) => string;
  /** `This must be "a".` */
  readonly equal: (given: { readonly word: string }) => string;
  /** `This is not one of small, large.` */
  readonly notOneOf: (given: { readonly words: string }) => string;
  /** `This is not a number or true or false.` */
  readonly notAny: (given: { readonly expected: string }) => string;
  /** `This must be at least 3.` */
  readonly bound: (given: { readonly how: BoundKind; readonly bound: string }) => string;
  /** `This must be at most 5 characters long.` `This must have exactly 1 item.` */
  readonly size: (given: { readonly how: SizeKind; readonly count: number; readonly unit: SizeUnit }) => string;
  /** `This must start with "a".` */
  readonly startsWith: (given: { readonly text: string }) => string;
  /** `This must end with "a".` */
  readonly endsWith: (given: { readonly text: string }) => string;
  /** `Not ready: db, cache.` */
  readonly notReady: (given: { readonly names: string }) => string;
  /** `This socket speaks chat, which was not offered.` */
  readonly subprotocol: (given: { readonly name: string }) => string;
}

/** Every sentence of the framework's in one language. A key that is not there is a type error. */
export type Sentences = { readonly [Key in SentenceKey]: string } & SentenceRules;
