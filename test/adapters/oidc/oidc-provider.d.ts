// The package has no types, and those of DefinitelyTyped do not compile with the other packages here.
declare module "oidc-provider" {
  import type { RequestListener } from "node:http";

  /** The part that the tests use. */
  export default class Provider {
    constructor(issuer: string, options: object);
    callback(): RequestListener;
    on(
      event: "grant.success",
      listener: (context: { oidc: { params?: { readonly [name: string]: unknown } } }) => void,
    ): void;
  }
}
