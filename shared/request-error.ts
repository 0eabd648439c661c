/** The names Strapi's envelope uses. */
export type RequestErrorName =
  | 'ValidationError'
  | 'PaginationError'
  | 'ApplicationError'
  | 'NotFoundError'
  | 'ForbiddenError'
  | 'UnauthorizedError'
  | 'ConflictError'
  | 'PayloadTooLargeError'
  | 'RateLimitError'
  | 'UnsupportedMediaTypeError'
  | 'SyntaxError'
  | 'BadRequestError'
  | 'UnprocessableEntityError'
  | 'ServiceUnavailableError';

/**
 * A refused request: thrown anywhere between HTTP and the ports, answered as Strapi's envelope
 * `{"data":null,"error":{status,name,message,details}}`. `message` is Strapi's for the first problem. `details` is
 * free-form JSON with the path, the value found and the values accepted.
 */
export class RequestError extends Error {
  readonly status: number;
  readonly errorName: RequestErrorName;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    errorName: RequestErrorName,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.status = status;
    this.errorName = errorName;
    this.details = details;
  }
}
