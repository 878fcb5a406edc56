/** What the page leaves to the reader. */
import type { Html } from "usher-http";

export declare function Auth(request: Request, config: object): Promise<Response>;
export declare const authConfig: { readonly secret: string };
export declare const yoga: { fetch(request: Request): Promise<Response> };
export declare const tus: { handleWeb(request: Request): Promise<Response> };
export declare function signInBy(response: string): Promise<Html>;
export declare function handler(request: Request): Promise<Response>;
export declare const build: object;
export declare function createRequestHandler(build: object, mode: string): (request: Request) => Promise<Response>;
