/** Replaces the compilers for which fastify would load ajv at every start. The write side validates bodies, and answers are bytes. */
export const NO_COMPILERS = { buildValidator: noSchemas, buildSerializer: noSchemas };

function noSchemas(): never {
  throw new Error('a route has a schema, and there is no compiler for it');
}
