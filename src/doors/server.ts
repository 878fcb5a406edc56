/** What every listener shares: its life, its options, its deadlines, and what its clients may leave unread. */
export {
  HostCheck,
  badHost,
  badTarget,
  headTooLong,
  refuse,
  refusedConnect,
  refusedLength,
  refusedTarget,
  targetTooLong,
} from "../server/bad-request.ts";
export type { RefusedHead } from "../server/bad-request.ts";
export { BufferedUnsent, unreadFault } from "../server/buffered-unsent.ts";
export { checkFit } from "../server/certificates.ts";
export { Deadlines } from "../server/deadlines.ts";
export type { Deadline, DeadlineListener } from "../server/deadlines.ts";
export { EventStreams, OpenSockets, OpenThings, until } from "../server/lifecycle.ts";
export { discardLimit, lingerBytes, lingerMs, lingerOn } from "../server/lingering.ts";
export { checkReusePort, listenAt, unixSocketsBy } from "../server/listen.ts";
export { CutLogs, Listener } from "../server/listener.ts";
export type { ListenAddress, StopSignals } from "../server/listener.ts";
export { limitsOf } from "../server/options.ts";
export type { Limits, ListenOptions, ServeOptions, Server } from "../server/options.ts";
export { PulledUnsent } from "../server/pulled-unsent.ts";
export type { SendStop, SendingState } from "../server/pulled-unsent.ts";
export { SendBudget } from "../server/send-budget.ts";
export type { HeldBytes, Recipient, Unsent } from "../server/send-budget.ts";
export { starting } from "../server/starting.ts";
export { timedBodyOf } from "../server/timed-body.ts";
export type { BodyReadingLimits, TimedBody } from "../server/timed-body.ts";
export { checkReplacement, refuseTls, withCertificate } from "../server/tls.ts";
export type { Certificate, Certificates, TlsOptions } from "../server/tls.ts";
