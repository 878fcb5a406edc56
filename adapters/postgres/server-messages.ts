/** What each message of the server looks like (PostgreSQL §54.7). */
import { counted } from "../../src/counted.ts";

/** A message that breaks the protocol. Its text names the message, and contains nothing of its body. */
export class ProtocolViolation extends Error {
  constructor(why: string) {
    super(why);
    this.name = "ProtocolViolation";
  }
}

/** The length of a message that may be long: PostgreSQL itself makes none of a gigabyte (MaxAllocSize). */
const anyLength = 0x3fff_ffff;
// A server may be built with blocks of 32 KiB, which bound a notification.
const shortText = 0x8000;
/** A message of RAISE may be long. */
const longText = 0x100_0000;

/** The name of a message of the server. */
export type MessageName =
  | "AuthenticationRequest"
  | "BackendKeyData"
  | "ParameterStatus"
  | "ReadyForQuery"
  | "NoticeResponse"
  | "NotificationResponse"
  | "ErrorResponse"
  | "NegotiateProtocolVersion"
  | "ParseComplete"
  | "BindComplete"
  | "CloseComplete"
  | "NoData"
  | "ParameterDescription"
  | "RowDescription"
  | "DataRow"
  | "CommandComplete"
  | "EmptyQueryResponse"
  | "PortalSuspended"
  | "FunctionCallResponse"
  | "CopyInResponse"
  | "CopyOutResponse"
  | "CopyBothResponse"
  | "CopyData"
  | "CopyDone";

/** The messages of the server: the byte of their type, their name, and the bounds of their length, which counts itself. */
const messages: { readonly [N in MessageName]: readonly [type: string, least: number, most: number] } = {
  AuthenticationRequest: ["R", 8, shortText],
  BackendKeyData: ["K", 12, 12],
  ParameterStatus: ["S", 6, shortText],
  ReadyForQuery: ["Z", 5, 5],
  NoticeResponse: ["N", 5, longText],
  NotificationResponse: ["A", 10, shortText],
  ErrorResponse: ["E", 5, longText],
  NegotiateProtocolVersion: ["v", 12, shortText],
  ParseComplete: ["1", 4, 4],
  BindComplete: ["2", 4, 4],
  CloseComplete: ["3", 4, 4],
  NoData: ["n", 4, 4],
  // The number of parameters has 16 bits.
  ParameterDescription: ["t", 6, 6 + 4 * 0xffff],
  RowDescription: ["T", 6, anyLength],
  DataRow: ["D", 6, anyLength],
  CommandComplete: ["C", 5, shortText],
  EmptyQueryResponse: ["I", 4, 4],
  PortalSuspended: ["s", 4, 4],
  FunctionCallResponse: ["V", 8, anyLength],
  CopyInResponse: ["G", 7, shortText * 8],
  CopyOutResponse: ["H", 7, shortText * 8],
  CopyBothResponse: ["W", 7, shortText * 8],
  CopyData: ["d", 4, anyLength],
  CopyDone: ["c", 4, 4],
};

export const messageNames = /* @__PURE__ */ Object.keys(messages) as readonly MessageName[];

/** The byte of a message's type. */
export function messageTypeOf(name: MessageName): number {
  return messages[name][0].charCodeAt(0);
}

/** By the byte of the type. */
interface ByType {
  readonly names: readonly (MessageName | undefined)[];
  readonly least: Uint32Array;
  readonly most: Uint32Array;
}

const { names, least, most } = /* @__PURE__ */ byType();

function byType(): ByType {
  const names = Array.from({ length: 256 }, (): MessageName | undefined => undefined);
  const [least, most] = [new Uint32Array(256), new Uint32Array(256)];
  for (const name of messageNames) {
    const type = messageTypeOf(name);
    names[type] = name;
    least[type] = messages[name][1];
    most[type] = messages[name][2];
  }
  return { names, least, most };
}

/** A message's name, or what its type is where there is no such message. */
export function messageNameOf(type: number): string {
  return names[type] ?? `a message of type ${type}`;
}

/** Throws where no message of that type has that length, before its body arrives. */
export function checkLength(type: number, length: number): void {
  if (length <= (most[type] as number) && length >= (least[type] as number)) return;
  throw new ProtocolViolation(
    names[type] === undefined
      ? `the server sent ${messageNameOf(type)}`
      : `the server sent ${messageNameOf(type)} of ${counted(length, "byte")}`,
  );
}

/**
 * Throws where the body of a message is not as the protocol has it. The driver reads on past the end of such a body, in a loop
 * without an end where a text lacks its NUL. The rows of a `PreparedRun` are checked where they are read.
 */
export function checkBody(bytes: Buffer, at: number, end: number): void {
  const start = at + 5;
  if (end === start) return;
  const name = names[bytes[at] as number];
  if (name === undefined || bodyEnd(name, bytes, start, end) === end) return;
  throw new ProtocolViolation(`the server sent ${name} that cannot be read`);
}

/** Where the body of a message ends by its own fields; not at `end` where they are wrong. */
function bodyEnd(name: MessageName, bytes: Buffer, start: number, end: number): number {
  switch (name) {
    case "ReadyForQuery":
      // Idle, in a transaction, in a failed transaction.
      return "ITE".includes(String.fromCharCode(bytes[start] as number)) ? end : wrong;
    case "ParameterStatus":
      return textEnd(bytes, textEnd(bytes, start, end), end);
    case "NotificationResponse":
      return textEnd(bytes, textEnd(bytes, start + 4, end), end);
    case "CommandComplete":
      return textEnd(bytes, start, end);
    case "ErrorResponse":
    case "NoticeResponse":
      return fieldsEnd(bytes, start, end);
    case "ParameterDescription":
      return start + 2 + 4 * bytes.readUInt16BE(start);
    case "RowDescription":
      return columnsEnd(bytes, start, end);
    case "DataRow":
      return rowEnd(bytes, start, end);
    default:
      return end;
  }
}

const wrong = -1;

/** Behind the NUL of a text. */
function textEnd(bytes: Buffer, start: number, end: number): number {
  const zero = start === wrong ? wrong : bytes.indexOf(0, start);
  return zero === wrong || zero >= end ? wrong : zero + 1;
}

/** Fields of one byte and a text, then a NUL. */
function fieldsEnd(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at !== wrong && at < end && bytes[at] !== 0) at = textEnd(bytes, at + 1, end);
  return at === wrong ? wrong : at + 1;
}

/** The table, number, type, size, modifier and format of a column, behind its name. */
const columnBytes = 18;

function columnsEnd(bytes: Buffer, start: number, end: number): number {
  let at = start + 2;
  for (let left = bytes.readUInt16BE(start); left > 0; left--) {
    const behind = textEnd(bytes, at, end);
    if (behind === wrong) return wrong;
    at = behind + columnBytes;
  }
  return at;
}

/** Why a row is not read. */
export const otherColumns = "the server sent DataRow of another number of columns than it described";

const nullLength = 0xffff_ffff;

function rowEnd(bytes: Buffer, start: number, end: number): number {
  let at = start + 2;
  for (let left = bytes.readUInt16BE(start); left > 0; left--) {
    if (at + 4 > end) return wrong;
    const length = bytes.readUInt32BE(at);
    at += length === nullLength ? 4 : 4 + length;
  }
  return at;
}

/** A message of the client. */
export function message(type: string, ...body: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(5), ...body]);
  bytes[0] = type.charCodeAt(0);
  bytes.writeUInt32BE(bytes.length - 1, 1);
  return bytes;
}
