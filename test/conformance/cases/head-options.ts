/** HEAD, OPTIONS, health, and the clock (rows RT-09, RT-39 to RT-42, AN-16, HL). */
import type { MessageCase } from "../case.ts";
import { empty, html, json, missing, notAllowed, notImplemented, refused, streamed, text, typed } from "../expected.ts";

const heads: readonly MessageCase[] = [
  {
    name: "RT-09 HEAD has the head of GET, its length too",
    ask: "HEAD /hello/kim",
    answer: json('{"name":"kim","times":1}'),
  },
  { name: "RT-09 of a page", ask: "HEAD /html", answer: html("<p>höme</p>") },
  { name: "RT-09 of a text of nothing", ask: "HEAD /nothing", answer: text("") },
  { name: "RT-09 of a large answer", ask: "HEAD /large", answer: text("0123456789abcdef".repeat(16_384)) },
  { name: "RT-09 of a 204", ask: "HEAD /empty", answer: empty() },
  { name: "RT-09 of a 404", ask: "HEAD /nowhere", answer: missing },
  { name: "RT-09 of a refusal", ask: "HEAD /gone", answer: refused(410, "gone", "It went.") },
  { name: "RT-09 of a redirect", ask: "HEAD /redirect", answer: empty(302, [["location", "/hello/kim?a=b%20c"]]) },
  { name: "RT-09 of a stream with a length", ask: "HEAD /stream/length", answer: typed("text/plain", "hello") },
  {
    name: "RT-09 of a stream without one",
    ask: "HEAD /stream",
    answer: streamed("application/octet-stream", "one two three"),
  },
  {
    name: "RT-09 of an endless stream",
    ask: "HEAD /stream/endless/head",
    answer: streamed("application/octet-stream", ""),
  },
  { name: "RT-09 of a path that only POST has", ask: "HEAD /later", answer: notAllowed("POST") },
];

const options: readonly MessageCase[] = [
  { name: "RT-39 OPTIONS of a path", ask: "OPTIONS /hello/kim", answer: empty(204, [["allow", "GET, DELETE, HEAD"]]) },
  {
    name: "RT-39 OPTIONS of a path that only POST has",
    ask: "OPTIONS /later",
    answer: empty(204, [["allow", "POST"]]),
  },
  { name: "RT-39 OPTIONS of everything", ask: "OPTIONS *", answer: empty() },
  { name: "RT-40 a route's own OPTIONS", ask: "OPTIONS /asked", answer: text("my own") },
  { name: "RT-42 OPTIONS of nothing", ask: "OPTIONS /nowhere", answer: missing },
  {
    name: "RT-39 OPTIONS with a body",
    ask: "OPTIONS /hello/kim",
    body: "x",
    answer: empty(204, [["allow", "GET, DELETE, HEAD"]]),
  },
];

const health: readonly MessageCase[] = [
  { name: "HL-01 live, whatever the checks say", ask: "GET /livez", answer: text("ok") },
  {
    name: "HL-03, HL-04 not ready, naming those that failed, and not why",
    ask: "GET /readyz",
    answer: refused(503, "not_ready", "Not ready: db, queue."),
  },
  { name: "HL-07 live, moved", on: "page", ask: "GET /alive", answer: text("ok") },
  { name: "HL-07 ready, moved", on: "page", ask: "GET /ready", answer: text("ok") },
  {
    name: "HL-07 and no longer where it was",
    on: "page",
    ask: "GET /livez",
    answer: html("nothing at /livez", { status: 404 }),
  },
];

const date = [["date", "Sun, 06 Nov 1994 08:49:37 GMT"]] as const;
const dates: readonly MessageCase[] = [
  {
    name: "AN-16 the date of a 200 is the app's clock's",
    on: "proxied",
    ask: "GET /ok",
    answer: text("ok", { headers: date }),
  },
  { name: "AN-16 of a 204", on: "proxied", ask: "GET /empty", answer: empty(204, date) },
  {
    name: "AN-16 of a 302",
    on: "proxied",
    ask: "GET /redirect",
    answer: empty(302, [["location", "/hello/kim?a=b%20c"], ...date]),
  },
  {
    name: "AN-16 of a 404",
    on: "proxied",
    ask: "GET /nowhere",
    answer: { ...missing, headers: [...missing.headers, ...date] },
  },
  { name: "AN-16 a 5xx has none", on: "proxied", ask: "PROPFIND /ok", answer: notImplemented },
];

export const headOptions: readonly MessageCase[] = [...heads, ...options, ...health, ...dates];
