/** All cases. */
import type { MessageCase, StoppingCase, WireCase } from "../case.ts";
import { answers } from "./answers.ts";
import { bodies, unreadBodies } from "./bodies.ts";
import { codecs } from "./codecs.ts";
import { connections } from "./connections.ts";
import { eventLines, events } from "./events.ts";
import { forms } from "./forms.ts";
import { framing, framingLines } from "./framing.ts";
import { headOptions } from "./head-options.ts";
import { lines, linesOnTheWay } from "./lines.ts";
import { headers } from "./headers.ts";
import { headLines, heads } from "./heads.ts";
import { inputs } from "./inputs.ts";
import { jsonBodies } from "./json-bodies.ts";
import { heldTogether, limits, logs } from "./limits.ts";
import { multipart } from "./multipart.ts";
import { bodyProblems } from "./problems.ts";
import { origins } from "./origins.ts";
import { proxies } from "./proxies.ts";
import { routing } from "./routing.ts";
import { boundedSockets, sockets, stoppedSockets } from "./sockets.ts";
import { sealed } from "./sealed.ts";
import { stopping } from "./stopping.ts";
import { disconnects, streams } from "./streams.ts";
import { boundedTakeovers, refusedTakeovers, stoppedTakeovers, takeovers } from "./takeovers.ts";
import { versions } from "./versions.ts";
import { wrongLines, wrongMessages } from "./wrong.ts";

export const messageCases: readonly MessageCase[] = [
  ...routing,
  ...inputs,
  ...codecs,
  ...jsonBodies,
  ...bodyProblems,
  ...forms,
  ...multipart,
  ...bodies,
  ...lines,
  ...answers,
  ...events,
  ...headers,
  ...headOptions,
  ...origins,
  ...sealed,
  ...proxies,
  ...heads,
  ...framing,
  ...versions,
  ...heldTogether,
  ...wrongMessages,
];
export const wireCases: readonly WireCase[] = [
  ...headLines,
  ...framingLines,
  ...unreadBodies,
  ...connections,
  ...streams,
  ...linesOnTheWay,
  ...eventLines,
  ...disconnects,
  ...limits,
  ...logs,
  ...refusedTakeovers,
  ...wrongLines,
];
/** For targets that hand over connections. */
export const takeoverCases: readonly WireCase[] = [...takeovers, ...boundedTakeovers];
/** The same, with a server of its own for each. */
export const stoppedTakeoverCases: readonly StoppingCase[] = stoppedTakeovers;
/** For targets that open WebSockets. */
export const socketCases: readonly WireCase[] = [...sockets, ...boundedSockets];
export const stoppingCases: readonly StoppingCase[] = [...stopping, ...stoppedSockets];
