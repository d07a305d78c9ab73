const TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** An expected refusal: data until the edge makes a response of it. */
export interface ApiError {
  status: number;
  message: string;
  retryAfterSeconds?: number | undefined;
}

function errorType(status: number): string {
  return TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}

export function errorBody(error: ApiError, requestId: string): Record<string, unknown> {
  return {
    type: "error",
    error: { type: errorType(error.status), message: error.message },
    request_id: requestId,
  };
}

export function errorResponse(error: ApiError, requestId: string): Response {
  const headers = new Headers({ "request-id": requestId });
  if (error.retryAfterSeconds !== undefined) {
    headers.set("retry-after", String(error.retryAfterSeconds));
  }
  return Response.json(errorBody(error, requestId), { status: error.status, headers });
}
