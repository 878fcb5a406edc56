/** The front door of `usher-http`. */
import type * as answers from "./answers/answer.ts";
import type * as bodies from "./inputs/body-reader.ts";
import type * as app from "./app/app.ts";
import type * as codecs from "./codecs/codec.ts";
import type * as cookies from "./cookies/cookie.ts";
import type * as keys from "./cookies/keys.ts";
import type * as events from "./streams/event.ts";
import type * as deps from "./inputs/dep.ts";
import type * as paths from "./routes/path.ts";
import type * as results from "./result.ts";
import type * as returns from "./answers/returned.ts";
import type * as metas from "./routes/meta.ts";
import type * as sessions from "./inputs/sessions.ts";
import type * as sockets from "./streams/sockets/socket.ts";
import type * as shapes from "./shapes/shape.ts";

export type Result<A, E> = results.Result<A, E>;
export * as Result from "./result.ts";

export type Codec<A> = codecs.Codec<A>;
export * as Codec from "./codecs/index.ts";
export type Shape<A = unknown, Json = unknown> = shapes.Shape<A, Json>;
export * as Shape from "./shapes/index.ts";

export type { Code } from "./refusals/code.ts";
export type { Problem } from "./refusals/problem.ts";
export { Refusal, refuse } from "./refusals/refusal.ts";

export type Path<Arguments = {}, Pattern extends string = string> = paths.Path<Arguments, Pattern>;
export * as Path from "./routes/path.ts";
export type { Param, Rest } from "./routes/path.ts";
export { del, get, patch, post, put, route } from "./routes/route.ts";
export type { Declaration, Route } from "./routes/route.ts";
export type Meta = metas.Meta;
export * as Meta from "./routes/meta.ts";

export type Dep<A, Refuses extends string = never, Wire = {}> = deps.Dep<A, Refuses, Wire>;
export * as Dep from "./inputs/dependencies.ts";
export type { Awaitable, Inputs, Values } from "./inputs/dep.ts";
export type { Need, RequestRecord } from "./inputs/asked.ts";
export type { Resource, Supplied } from "./inputs/resource.ts";
export { param } from "./inputs/param.ts";
export * as Query from "./inputs/query.ts";
export * as Header from "./inputs/header.ts";
export type Cookie<A> = cookies.Cookie<A>;
export * as Cookie from "./inputs/cookie.ts";
export type { SetCookie } from "./cookies/cookie.ts";
export type Keys = keys.Keys;
export * as Keys from "./cookies/keys.ts";
export { json } from "./inputs/json.ts";
export * as Form from "./inputs/form.ts";
export type { UploadedFile } from "./inputs/form-body.ts";
export { body } from "./inputs/of-body.ts";
export { bodyStream } from "./inputs/body-stream.ts";
export type { BodyStreamOptions } from "./inputs/body-stream.ts";
export { multipart } from "./inputs/multipart.ts";
export type { MultipartOptions } from "./inputs/multipart.ts";
export type { Multipart, Part } from "./inputs/multipart/parts.ts";
export type Body = bodies.Body;
export * as Body from "./inputs/body.ts";
export type { BodyFailure, MultipartFailure } from "./inputs/body-source.ts";
export type Sessions<A> = sessions.Sessions<A>;
export * as Sessions from "./inputs/sessions.ts";
export type { Session, SessionsOptions } from "./inputs/sessions.ts";
export type { SessionChange, SessionEntry, SessionStore } from "./cookies/session-store.ts";
export { addHeader, client, clientGone, now, peer, requestId, setCookie } from "./inputs/connection.ts";
export { request } from "./inputs/of-request.ts";

export type Returns<A, Sent = A> = returns.Returns<A, Sent>;
export * as Returns from "./answers/returns.ts";
export { answer } from "./answers/returned.ts";
export type { Answered } from "./answers/returned.ts";
export type Answer = answers.Answer;
export * as Answer from "./answers/build.ts";

export type Event<K> = events.Event<K>;
export * as Event from "./streams/events.ts";
export type { EventKind } from "./streams/event.ts";
export type { Producer, Send } from "./streams/event-stream.ts";
export type { Received } from "./answers/returns.ts";
export type Socket<Client, Server> = sockets.Socket<Client, Server>;
export * as Socket from "./streams/sockets/index.ts";
export type { Message, Protocol } from "./streams/sockets/message.ts";
export type { SocketEnd, SocketHandler } from "./streams/sockets/socket.ts";
export type { SocketOptions } from "./answers/websocket.ts";
export * as Broadcast from "./streams/broadcast.ts";
export type { Hub } from "./streams/hub.ts";
export type { Relay } from "./streams/relay.ts";
export type { Subscription } from "./streams/subscription.ts";

export type App = app.App;
export * as App from "./app/app.ts";
export type { AppOptions, Connection } from "./app/app.ts";
export * as Health from "./probes/health.ts";
export * as Openapi from "./openapi/index.ts";
export * as Log from "./logging/log.ts";
export * as Test from "./testing/test.ts";
