/**
 * The front door of `usher-http`. A declaration file names a type by an export of an entry itself, and never by a member of a
 * namespace. A type that an inferred type may have therefore has a name here: `DepType` where the namespace is named `Dep`.
 */
import type * as apiKeys from "./security/api-keys.ts";
import type * as answers from "./exchange/answer.ts";
import type * as alarms from "./app/alarm.ts";
import type * as backgrounds from "./app/background.ts";
import type * as bodies from "./inputs/body-source.ts";
import type * as app from "./app/app.ts";
import type * as overloads from "./app/overload.ts";
import type * as proxies from "./app/proxies.ts";
import type * as cors from "./security/cors.ts";
import type * as secureHeaders from "./security/secure-headers.ts";
import type * as clients from "./client/calls.ts";
import type * as httpClients from "./client/http-client.ts";
import type * as codecs from "./codecs/codec.ts";
import type * as cookies from "./codecs/cookie.ts";
import type * as keys from "./security/keys.ts";
import type * as events from "./events/event.ts";
import type * as deps from "./inputs/dep.ts";
import type * as pages from "./html/html.ts";
import type * as paths from "./routing/path.ts";
import type * as refusalFormats from "./answers/refusal-format.ts";
import type * as results from "./result.ts";
import type * as rates from "./security/rate.ts";
import type * as returns from "./answers/returns-type.ts";
import type * as routes from "./routing/route.ts";
import type * as metas from "./routing/meta.ts";
import type * as sessions from "./security/sessions.ts";
import type * as sockets from "./sockets/socket.ts";
import type * as shapes from "./schema/valibot.ts";
import type * as stores from "./inputs/store.ts";

// Values as text and as JSON

export type Result<A, E> = results.Result<A, E>;
export type { Result as ResultType } from "./result.ts";
export * as Result from "./result.ts";

export type Codec<A, Sent = unknown> = codecs.Codec<A, Sent>;
export type { Codec as CodecType, ListOptions, TextOptions } from "./codecs/codec.ts";
export * as Codec from "./codecs/index.ts";
export type {
  BasicLogin,
  ByteRange,
  CacheDirective,
  CalendarDate,
  Credentials,
  EntityTag,
  ForwardedElement,
  MediaRange,
  MediaType,
  Ranges,
  StructuredDictionary,
  StructuredInnerList,
  StructuredItem,
  StructuredList,
  StructuredMember,
  StructuredParameters,
  StructuredValue,
  TextShape,
  Weighted,
} from "./codecs/index.ts";
export type Shape<A = unknown, Json = unknown> = shapes.Shape<A, Json>;
export type { Shape as ShapeType } from "./schema/valibot.ts";
export type { StandardSchema } from "./schema/standard.ts";
export * as Shape from "./schema/index.ts";

// Refusals

export type { Code } from "./refusals.ts";
export { Problem, Refusal, refuse } from "./refusals.ts";

// Routes

export type Path<Params = paths.AnyParam | paths.Rest, Pattern extends string = string> = paths.Path<Params, Pattern>;
export type { Path as PathType, Segment as PathSegment } from "./routing/path.ts";
export * as Path from "./routing/path.ts";
export type { InputProblem, OnlyDeclaredInputs, Param, Rest } from "./inputs/dep.ts";
export { del, get, patch, post, put, route } from "./routing/route.ts";
export type { ClientRoute, Declaration, Handler, Method, SentBy, WebSocketSent } from "./routing/route.ts";
export type Route<
  M extends string = string,
  P extends string = string,
  Wire = unknown,
  Sent = unknown,
  Names extends string = string,
> = routes.Route<M, P, Wire, Sent, Names>;
export type { Route as RouteType } from "./routing/route.ts";
export * as Route from "./routing/group.ts";
export type { MountDoc, MountOperation, MountResponse } from "./routing/mount-doc.ts";
export type { MountHandler, MountOptions } from "./routing/mount.ts";
export type { Group as RouteGroup, GroupMaker, GroupMethod, GroupOptions, GroupedRoutes } from "./routing/group.ts";
export type Meta = metas.Meta;
export type { Meta as MetaType, MetaKey } from "./routing/meta.ts";
export * as Meta from "./routing/meta.ts";

// Inputs: text of the head, the body, and what is read of the connection

export type Dep<A, Refuses extends string = never, Wire = {}> = deps.Dep<A, Refuses, Wire>;
export type { Dep as DepType } from "./inputs/dep.ts";
export * as Dep from "./inputs/dependencies.ts";
export type { Awaitable, Inputs, Values } from "./inputs/dep.ts";
// The inferred type of a helper over any inputs or any shape names these.
export type { AnyParam, PathWire, RefusesOf, WiresOf } from "./inputs/dep.ts";
export type { JsonOf, ValueOf as ShapeValueOf } from "./schema/valibot.ts";
export type { Need, RequestRecord } from "./inputs/request.ts";
export type { Resource, Supplied } from "./inputs/dep.ts";
export type { StoreFrom } from "./inputs/store.ts";
export { param } from "./routing/param.ts";
export type { TextKind, TextSchema } from "./inputs/text-schema.ts";
export * as Query from "./inputs/query.ts";
export * as Header from "./inputs/header.ts";
export type Cookie<A> = cookies.Cookie<A>;
export type { Cookie as CookieType } from "./codecs/cookie.ts";
export * as Cookie from "./security/cookie.ts";
export type { SetCookie } from "./codecs/cookie.ts";
export type Keys = keys.Keys;
export type { Keys as KeysType } from "./security/keys.ts";
export * as Keys from "./security/keys.ts";
export { isSameSecret } from "./security/sealing.ts";
export { json } from "./inputs/body-inputs.ts";
export * as Form from "./inputs/form.ts";
export type { FileListOptions, FileOptions } from "./inputs/dep.ts";
export type { UploadedFile } from "./inputs/form-body.ts";
export { body, bodyStream } from "./inputs/body-inputs.ts";
export type { BodySent, BodyStreamOptions, BodyToSend } from "./inputs/body-inputs.ts";
export { multipart } from "./inputs/multipart.ts";
export { jsonLines } from "./inputs/json-lines.ts";
export type { JsonLines, JsonLinesOptions, LinesSent } from "./inputs/json-lines.ts";
export type { Multipart, MultipartOptions, Part } from "./inputs/multipart.ts";
export type Body = bodies.Body;
export type { Body as BodyType } from "./inputs/body-source.ts";
export * as Body from "./inputs/body.ts";
export type { BodyFailure, InvalidLine, MultipartFailure } from "./inputs/body-source.ts";
// Security

export type Rate<From = stores.StoreFrom<rates.RateStore>> = rates.Rate<From>;
export type { Rate as RateType, RateOptions } from "./security/rate.ts";
export * as Rate from "./security/rate.ts";
export type { RateMemory, RateRule, RateStore } from "./security/rate-store.ts";
export * as Idempotency from "./security/idempotency.ts";
export type {
  IdempotencyAnswer,
  IdempotencyClaim,
  IdempotencyCode,
  IdempotencyEntry,
  IdempotencyMemoryOptions,
  IdempotencyOptions,
  IdempotencyStore,
} from "./security/idempotency.ts";
export type ApiKeys<From = apiKeys.ApiKeyStore> = apiKeys.ApiKeys<From>;
export type { ApiKeys as ApiKeysType } from "./security/api-keys.ts";
export * as ApiKeys from "./security/api-keys.ts";
export type {
  ApiKey,
  ApiKeyEntry,
  ApiKeyInput,
  ApiKeyStore,
  ApiKeyWire,
  ApiKeysOptions,
  CreatedApiKey,
  NewApiKey,
} from "./security/api-keys.ts";
export * as Password from "./security/password.ts";
export type {
  Argon2Cost,
  PasswordCheck,
  PasswordCost,
  PasswordLimits,
  PasswordOptions,
  Passwords,
} from "./security/password.ts";
export * as Webhook from "./security/webhook.ts";
export type { WebhookOptions, WebhookScheme, WebhookSigning } from "./security/webhook.ts";
export type Sessions<A, From = sessions.SessionStore> = sessions.Sessions<A, From>;
export type { Session, Sessions as SessionsType, SessionsInStore, SessionsOptions } from "./security/sessions.ts";
export * as Sessions from "./security/sessions.ts";
export type { SessionChange, SessionEntry, SessionStore } from "./security/session-store.ts";
// What any handler may need

export {
  addHeader,
  after,
  client,
  clientGone,
  deadline,
  now,
  peer,
  peerCertificate,
  requestId,
  setCookie,
  request,
  validWhile,
} from "./inputs/connection.ts";
export { earlyHints } from "./inputs/early-hints.ts";
export type { Validity } from "./inputs/validity.ts";
export type { PeerCertificate } from "./inputs/peer-certificate.ts";
export type { AfterOptions } from "./inputs/connection.ts";
export type { RequestEnd } from "./inputs/request.ts";

// Answers

export type Returns<A, Sent = A, Status = number> = returns.Returns<A, Sent, Status>;
export type { Answered, ListedAnswer, Returns as ReturnsType, Succeeded } from "./answers/returns-type.ts";
export * as Returns from "./answers/returns.ts";
export { answer } from "./answers/returns-type.ts";
export type Answer = answers.Answer;
export type { Answer as AnswerType } from "./exchange/answer.ts";
export * as Answer from "./answers/makers.ts";
export type { TakenConnection } from "./exchange/answer.ts";
export { html } from "./html/html.ts";
export type Html = pages.Html;
export type { Html as HtmlType, HtmlValue } from "./html/html.ts";
export * as Html from "./html/index.ts";
export type RefusalFormat = refusalFormats.RefusalFormat;
export type {
  RefusalFormat as RefusalFormatType,
  RefusalFormatOptions,
  RefusalToWrite,
} from "./answers/refusal-format.ts";
export * as RefusalFormat from "./answers/refusal-format.ts";

// Event streams and WebSockets

export type Event<K> = events.Event<K>;
export type { Event as EventType } from "./events/event.ts";
export * as Event from "./events/index.ts";
export type { EventKind } from "./events/event.ts";
export type { EventsAnswer, Producer, Send } from "./events/event-stream.ts";
export type { Received } from "./answers/returns.ts";
export type Socket<Client, Server, Subprotocol = string | undefined> = sockets.Socket<Client, Server, Subprotocol>;
export type { Socket as SocketType } from "./sockets/socket.ts";
export * as Socket from "./sockets/index.ts";
export type {
  Encoded,
  JsonWire,
  Message,
  MessageWire,
  Protocol,
  SocketEnd,
  SocketAnswer,
  SocketHandler,
  SocketWire,
} from "./sockets/socket.ts";
export { Unreadable } from "./sockets/socket.ts";
export type { SocketCompression, SocketOptions } from "./sockets/socket.ts";
export * as Broadcast from "./events/broadcast.ts";
export type { Hub, Subscription } from "./events/hub.ts";
export type { Relay } from "./events/relay.ts";

// The app, and what is around it

export type App = app.App;
export type { App as AppType } from "./app/app.ts";
export * as App from "./app/app.ts";
export { DeclarationError } from "./app/checks.ts";
export type { AppOptions, Connection } from "./app/app.ts";
export type { FailedRequest, Middleware, MiddlewareRequest, OnError } from "./app/compile.ts";
export type Background = backgrounds.Background;
export type { Background as BackgroundType, BackgroundOptions, FailedWork } from "./app/background.ts";
export * as Background from "./app/background.ts";
export type Alarm = alarms.Alarm;
export type { Alarm as AlarmType, AlarmKey, AlarmOptions } from "./app/alarm.ts";
export * as Alarm from "./app/alarm.ts";
export type Deadline = metas.TimeLimit;
export type { TimeLimit as DeadlineType } from "./routing/meta.ts";
export * as Deadline from "./app/deadline.ts";
export type Overload = overloads.Overload;
export type { Overload as OverloadType, OverloadOptions } from "./app/overload.ts";
export * as Overload from "./app/overload.ts";
export type Proxies = proxies.Proxies;
export type { Proxies as ProxiesType, ProxiesOptions } from "./app/proxies.ts";
export * as Proxies from "./app/proxies.ts";
export type Cors = cors.Cors;
export type { Cors as CorsType, CorsOptions } from "./security/cors.ts";
export * as Cors from "./security/cors.ts";
export type SecureHeaders = secureHeaders.SecureHeaders;
export type { SecureHeaders as SecureHeadersType } from "./security/secure-headers.ts";
export * as SecureHeaders from "./security/secure-headers.ts";
export * as Health from "./health.ts";
export type { Check as HealthCheck } from "./health.ts";
export * as Openapi from "./openapi/index.ts";
export type { Document as OpenapiDocument } from "./openapi/document.ts";
export type Client<Routes extends readonly routes.ClientRoute[]> = clients.Client<Routes>;
export type { Client as ClientType } from "./client/calls.ts";
export * as Client from "./client/namespace.ts";
export type HttpClient = httpClients.HttpClient;
export type { HttpClient as HttpClientType } from "./client/http-client.ts";
export * as HttpClient from "./client/http-client.ts";
export type { ClientCode, Outcome, Refused } from "./client/calls.ts";
export type { ClientSocket, ClientSocketEnd } from "./client/socket-types.ts";
export * as Log from "./logging/log.ts";
export type { Source as LogSource } from "./logging/log.ts";
export * as Metrics from "./metrics.ts";
export * as Trace from "./telemetry/trace.ts";
export type { Exporter as TraceExporter, Span as TraceSpan } from "./telemetry/trace.ts";
export * as Test from "./testing/index.ts";
export type { TestAnswer, TestApp } from "./testing/call.ts";
export type { TestBrowser } from "./testing/browser.ts";
