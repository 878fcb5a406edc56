/**
 * A small document that is written as the large public ones are. A member that may be null is an alternative (Stripe), alternatives only
 * need other members (GitHub), there is a discriminator and XML (Petstore). It has each other keyword of JSON Schema 2020-12 once.
 */
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const nullable = (schema: object) => ({ anyOf: [schema, { type: "null" }] });

const currencies = [
  "aed",
  "afn",
  "all",
  "amd",
  "ang",
  "aoa",
  "ars",
  "aud",
  "awg",
  "azn",
  "bam",
  "bbd",
  "bdt",
  "bgn",
  "bif",
];

const schemas = {
  OrderId: { type: "string", minLength: 3 },
  Alias: { $ref: "#/components/schemas/OrderId" },
  Whole: { allOf: [{ $ref: "#/components/schemas/OrderId" }] },
  State: { enum: ["open", "paid"] },
  Nothing: { enum: [null] },
  Charge: {
    title: "A charge",
    type: "object",
    description: "Money that is asked.\n\nA second paragraph of it.",
    externalDocs: { url: "https://docs.example/charge", description: "More on charges" },
    required: ["id", "amount"],
    properties: {
      id: { type: "string", readOnly: true, pattern: "^ch_", maxLength: 5000 },
      amount: { type: "integer", exclusiveMinimum: 0, maximum: 99999999, multipleOf: 5, description: "In cents." },
      currency: { enum: currencies, default: "aud", description: "Three letters." },
      note: nullable({ type: "string", minLength: 2, maxLength: 40, description: "What the buyer reads." }),
      email: nullable({ type: "string", format: "email", default: "a@example.com", examples: ["b@example.com"] }),
      customer: {
        anyOf: [{ type: "string", maxLength: 500 }, ref("Customer"), ref("DeletedCustomer"), { type: "null" }],
      },
      source: { anyOf: [{ type: "string", maxLength: 501 }, ref("Customer")], nullable: true },
      metadata: { anyOf: [{ type: "object", additionalProperties: { type: "string" } }, { enum: [""] }] },
      tags: {
        type: "array",
        maxItems: 20,
        uniqueItems: true,
        items: { type: "string", pattern: "^[a-z]+$", description: "A tag." },
      },
      steps: nullable({ type: "array", items: { type: "integer", minimum: 3, enum: [3, 5, 8] } }),
      grid: { type: "array", items: { type: "array", minItems: 2, items: { type: "number", maximum: 1.5 } } },
      deep: {
        type: "array",
        items: { type: "array", items: { type: "array", items: { type: "array", items: { const: 77 } } } },
      },
      refunds: { type: "array", items: ref("Refund") },
      owner: { allOf: [ref("Customer")], description: "Who owns it.", nullable: true },
      secret: { type: "string", writeOnly: true, format: "password", deprecated: true },
      old: { type: "number", minimum: 7, exclusiveMinimum: true, example: 7.25 },
    },
    additionalProperties: false,
  },
  Customer: {
    type: "object",
    properties: { kind: { const: "customer" }, name: { type: "string", maxLength: 90 } },
    patternProperties: { "^x-": { type: "string", maxLength: 12 } },
    additionalProperties: { type: "integer", minimum: 4 },
    minProperties: 1,
    maxProperties: 9,
    propertyNames: { pattern: "^[a-z-]+$" },
  },
  DeletedCustomer: { type: "object", properties: { kind: { const: "deleted" } }, additionalProperties: true },
  Refund: {
    allOf: [
      { type: "object", properties: { reason: { type: "string", enum: ["lost", "late"] } } },
      { properties: { parent: nullable(ref("Refund")) } },
    ],
    deprecated: true,
  },
  Pet: {
    discriminator: { propertyName: "species", mapping: { cat: "#/components/schemas/Cat" } },
    oneOf: [ref("Cat"), { type: "object", required: ["species"], properties: { species: { const: "dog" } } }],
  },
  Cat: {
    type: "object",
    properties: { species: { const: "cat" }, photo: { type: "string", xml: { name: "photoUrl" } } },
  },
  Issue: {
    type: "object",
    properties: { title: { oneOf: [{ type: "string", minLength: 1 }, { type: "integer" }] }, body: { type: "string" } },
    anyOf: [{ required: ["title"] }, { required: ["body"] }],
    dependentRequired: { body: ["title"] },
    dependentSchemas: { title: { properties: { lock: { type: "boolean", default: false } } } },
    not: { required: ["forbidden"] },
    if: { properties: { body: { const: "x" } } },
    then: { required: ["title"] },
    else: { minProperties: 2 },
    unevaluatedProperties: false,
  },
  Blob: {
    type: "object",
    properties: {
      data: { type: "string", contentEncoding: "base64", contentMediaType: "image/png" },
      json: {
        type: "string",
        contentMediaType: "application/json",
        contentSchema: { type: "object", properties: { n: { type: "integer", minimum: 6 } } },
      },
      pair: {
        type: "array",
        prefixItems: [{ type: "string", maxLength: 3 }, { type: "integer" }],
        items: { type: "boolean", description: "Flags." },
      },
      some: {
        type: "array",
        contains: { const: "a" },
        minContains: 2,
        maxContains: 6,
        unevaluatedItems: { type: "string" },
      },
      never: { not: {} },
      any: true,
      none: false,
    },
  },
  Endless: { anyOf: [ref("Endless"), { type: "null" }] },
  Lists: { type: "array", items: ref("Lists") },
};

const json = (schema: object) => ({ content: { "application/json": { schema } } });

export const everyKeyword = {
  openapi: "3.1.0",
  info: { title: "Every keyword", version: "1" },
  paths: {
    "/v1/customers/{customer}/payment_methods/{payment_method}/charges": {
      post: {
        summary: "Charge",
        parameters: [
          { name: "customer", in: "path", required: true, schema: { type: "string", maxLength: 5000 } },
          { name: "payment_method", in: "path", required: true, schema: { type: "string", pattern: "^pm_" } },
          {
            name: "expand",
            in: "query",
            schema: nullable({ type: "array", items: { type: "string", enum: ["customer", "refunds", "owner"] } }),
          },
          {
            name: "limit",
            in: "query",
            description: "How many.",
            schema: nullable({ type: "integer", minimum: 1, maximum: 100, description: "A count." }),
          },
          {
            name: "filter",
            in: "query",
            content: {
              "application/json": {
                schema: { type: "object", properties: { since: { type: "string", format: "date" } } },
              },
            },
          },
        ],
        requestBody: { required: true, ...json(ref("Charge")) },
        responses: {
          200: {
            description: "",
            headers: {
              "x-left": {
                required: true,
                deprecated: true,
                description: "Left.",
                schema: { type: "integer", minimum: 0, maximum: 60 },
              },
            },
            ...json({
              type: "object",
              required: ["data"],
              properties: {
                data: { type: "array", maxItems: 100, items: { anyOf: [ref("Charge"), ref("Pet"), ref("Issue")] } },
              },
            }),
          },
          default: {
            description: "An error.",
            ...json(nullable({ type: "object", properties: { blob: ref("Blob") } })),
          },
        },
      },
    },
  },
  components: { schemas },
};
