import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError, getJSON, token } from "../lib/api";

/** Takes the token of the API. It is tried before it is kept, and kept for this tab alone. */
export function LoginPage({ done }: { done: () => void }): JSX.Element {
  const [text, type] = useState(""), [wrong, say] = useState(""), [busy, wait] = useState(false);
  const enter = async (e: Event): Promise<void> => {
    e.preventDefault();
    const t = text.trim();
    if (t === "" || busy) return;
    wait(true);
    say("");
    token.set(t);
    try {
      await getJSON("/v1/services");
      done();
    } catch (err) {
      const status = err instanceof ApiError ? err.status : 0;
      if (status === 401) say("This token is not known.");
      else if (status === 403) say("This token may not read.");
      else say(`The server does not answer: ${err instanceof Error ? err.message : String(err)}.`);
      token.clear();
    } finally {
      wait(false);
    }
  };
  return (
    <main class="login" id="main">
      <form class="panel" onSubmit={(e) => void enter(e)}>
        <svg width="44" height="48" viewBox="4 2 24 27" fill="none" aria-hidden="true">
          <path d="M6 22 A 13 13 0 0 0 26 22" stroke="var(--accent)" stroke-width="2" stroke-linecap="round" />
          <path d="M16 6 L 7.5 23.5 M16 6 L 24.5 23.5 M16 6 L 17.6 26.4" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />
          <circle cx="16" cy="6" r="2.6" fill="var(--star)" />
        </svg>
        <h1>Sign in to Sextant</h1>
        <p class="muted">This server asks for a bearer token. It stays in this tab and is forgotten when the tab is closed.</p>
        <label class="field stacked">
          <span>Token</span>
          <input type="password" autocomplete="off" spellcheck={false} value={text} autofocus
            aria-invalid={wrong !== ""} aria-describedby={wrong === "" ? undefined : "wrong"} onInput={(e) => type(e.currentTarget.value)} />
        </label>
        {wrong !== "" && <p class="wrong" id="wrong" role="alert">{wrong}</p>}
        <button type="submit" class="primary" disabled={busy || text.trim() === ""}>{busy ? "Trying…" : "Sign in"}</button>
      </form>
    </main>
  );
}
