// Everything that the console asks goes through here: same origin, with the token if there is
// one, with a deadline, and with errors that say what happened.

const tokenKey = "sextant.token";

/** The token of this tab. It lives in sessionStorage alone: never in a URL or a cookie. */
export const token = {
  get: (): string | null => sessionStorage.getItem(tokenKey),
  set: (value: string): void => sessionStorage.setItem(tokenKey, value),
  clear: (): void => sessionStorage.removeItem(tokenKey),
};

/** What went wrong, with the HTTP status; 0 where no answer came. */
export class ApiError extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
  get needsLogin(): boolean {
    return this.status === 401;
  }
  /** The path is not served: a part of Sextant that is older, or switched off. */
  get missing(): boolean {
    return this.status === 404;
  }
}

const patience = 25_000; // ms for one answer

/** Told when an answer says that a token is needed. */
export const loginNeeded = new EventTarget();

async function ask(path: string, init: RequestInit, signal?: AbortSignal): Promise<Response> {
  const headers = new Headers(init.headers);
  const t = token.get();
  if (t !== null) headers.set("Authorization", `Bearer ${t}`);
  const limit = AbortSignal.timeout(patience);
  let res: Response;
  try {
    res = await fetch(path, {
      ...init, headers, cache: "no-store", credentials: "same-origin", redirect: "error",
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new ApiError(0, limit.aborted ? `no answer within ${patience / 1000} s` : "the server does not answer");
  }
  if (res.ok) return res;
  const err = new ApiError(res.status, await detail(res));
  if (err.needsLogin) loginNeeded.dispatchEvent(new Event("login"));
  throw err;
}

/** The error text of an answer: Feast's and ours is {"detail"}, Prometheus' {"error"}. */
async function detail(res: Response): Promise<string> {
  try {
    const body = (await res.json()) as { detail?: unknown; error?: unknown };
    for (const text of [body.detail, body.error]) if (typeof text === "string" && text !== "") return text;
  } catch {
    // not JSON: the status has to do
  }
  return `status ${res.status}`;
}

export async function getJSON<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await ask(path, { headers: { Accept: "application/json" } }, signal)).json()) as T;
}

export async function getBytes(path: string, signal?: AbortSignal): Promise<ArrayBuffer> {
  return (await ask(path, {}, signal)).arrayBuffer();
}

export async function openStream(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const headers = new Headers();
  const t = token.get();
  if (t !== null) headers.set("Authorization", `Bearer ${t}`);
  const res = await fetch(path, { headers, signal, cache: "no-store", redirect: "error" });
  if (!res.ok || res.body === null) throw new ApiError(res.status, `status ${res.status}`);
  return res.body;
}

export async function postJSON<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  return (await (await ask(path, init, signal)).json()) as T;
}

export async function postForm<T>(path: string, form: Record<string, string>, signal?: AbortSignal): Promise<T> {
  return (await (await ask(path, { method: "POST", body: new URLSearchParams(form) }, signal)).json()) as T;
}
