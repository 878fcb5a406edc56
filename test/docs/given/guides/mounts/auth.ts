/** What a user writes of Better Auth: its own types are of a package that the pages cannot import. */
export declare const auth: {
  handler(request: Request): Promise<Response>;
  readonly api: {
    getSession(of: { readonly headers: Headers }): Promise<{ readonly user: { readonly email: string } } | null>;
  };
};
