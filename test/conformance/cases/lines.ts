/** JSON lines in requests and answers, while they are sent (rows JL). */
import type { MessageCase, WireCase } from "../case.ts";
import { problems, streamed, text, tooLong, unsupportedType } from "../expected.ts";
import { answers, asks, by, cut, head, leaves, noted, opens, sees, sends, stopsReading } from "../steps.ts";

const type = [["content-type", "application/x-ndjson"]] as const;
const order = (item: string, quantity: number): string => `${JSON.stringify({ item, quantity })}\n`;
const stream = (body: string) => streamed("application/x-ndjson", body, { headers: [["x-accel-buffering", "no"]] });

export const lines: readonly MessageCase[] = [
  {
    name: "JL-01 lines are read",
    ask: "POST /lines/read",
    headers: type,
    body: order("a", 1) + order("é🙂", 2),
    answer: text("2 orders of 3"),
  },
  {
    name: "JL-01 lines of another name are read, in chunks that end anywhere",
    ask: "POST /lines/read",
    headers: [["content-type", "application/jsonl"]],
    body: { chunks: [...new TextEncoder().encode(order("é🙂", 1) + order("b", 2))].map((byte) => Uint8Array.of(byte)) },
    answer: text("2 orders of 3"),
  },
  { name: "JL-11 no body has no lines", ask: "POST /lines/read", headers: type, answer: text("0 orders of 0") },
  {
    name: "JL-13 lines that say that they are JSON are a 415",
    ask: "POST /lines/read",
    headers: [["content-type", "application/json"]],
    body: order("a", 1),
    answer: unsupportedType,
  },
  {
    name: "JL-21 a line that does not fit is a 400 with its number",
    ask: "POST /lines/read",
    headers: type,
    body: `${order("a", 1)}\n${order("b", 0)}x\n`,
    answer: problems(["body.line[3].quantity", "too_small", "This must be at least 1."]),
  },
  {
    name: "JL-40 a line as long as one may be",
    ask: "POST /lines/read",
    headers: type,
    body: { chunks: [`{"item":"${"x".repeat(50_000)}`, `${"x".repeat(19_976)}","quantity":1}`, "\n"] },
    answer: text("1 orders of 1"),
  },
  {
    name: "JL-40 a line of twice that is a 413",
    ask: "POST /lines/read",
    headers: type,
    body: { chunks: [order("x".repeat(140_000), 1)] },
    answer: tooLong({ after: "either" }),
  },
  {
    name: "JL-70 lines are sent",
    ask: "GET /lines/sent?count=2",
    answer: stream(order("line\n1", 1) + order("line\n2", 2)),
  },
  { name: "JL-71 no lines are an empty body", ask: "GET /lines/sent?count=0", answer: stream("") },
  {
    name: "JL-72 what their inputs refuse is a 400",
    ask: "GET /lines/sent?count=x",
    answer: problems(["query.count", "malformed", "This is not a whole number."]),
  },
];

export const linesOnTheWay: readonly WireCase[] = [
  {
    name: "JL-45 a line is read when it is there, before the next has arrived",
    steps: [
      head("POST /lines/noted/there HTTP/1.1", "host: h", "content-type: application/jsonl", "content-length: 5"),
      sends("1\n"),
      noted("there read 1", "1"),
      sends("2\n"),
      noted("there read 2", "3"),
      sends("3"),
      answers(text("6")),
    ],
  },
  {
    name: "JL-46 a client that goes in the middle of a line",
    steps: [
      head(
        "POST /lines/noted/lines-going HTTP/1.1",
        "host: h",
        "content-type: application/x-ndjson",
        "content-length: 9",
      ),
      sends("1\n2"),
      noted("lines-going read 1", "1"),
      leaves,
      noted("lines-going ended", "unreadable"),
    ],
  },
  {
    name: "JL-73 a line goes out when it is made",
    steps: [asks("GET /lines/waits/sent"), sees("1\n"), opens("sent"), answers(stream("1\n2\n"))],
  },
  {
    name: "JL-74 what sends lines is ended when its client goes",
    steps: [asks("GET /lines/endless/lines-left"), sees("xxxx"), leaves, noted("lines-left ended", "yes")],
  },
  {
    name: "JL-75 clientGone tells what waits between two lines",
    steps: [asks("GET /lines/quiet/lines-quiet"), sees("1\n"), leaves, noted("lines-quiet ended", "gone")],
  },
  {
    name: "JL-76 a client that takes nothing of the lines is left",
    on: "impatient",
    steps: [asks("GET /lines/endless/lines-stopped"), stopsReading, noted("lines-stopped ended", "yes")],
  },
  {
    name: "JL-77 a value that is none of its shape cuts the lines, and ends what makes them",
    steps: [
      asks("GET /lines/broken/lines-broken", "GET /ok"),
      sees("1\n"),
      opens("lines-broken"),
      cut,
      ...by("another", noted("lines-broken ended", "yes")),
    ],
  },
];
