import { useEffect, useState } from "preact/hooks";

export type Choice = "auto" | "dark" | "light";
const key = "sextant.theme";
const changed = new EventTarget();
const system = matchMedia("(prefers-color-scheme: light)");
system.addEventListener("change", () => changed.dispatchEvent(new Event("change")));

export function chosen(): Choice {
  const c = localStorage.getItem(key);
  return c === "dark" || c === "light" ? c : "auto";
}

export function choose(c: Choice): void {
  if (c === "auto") {
    localStorage.removeItem(key);
    delete document.documentElement.dataset["theme"];
  } else {
    localStorage.setItem(key, c);
    document.documentElement.dataset["theme"] = c;
  }
  changed.dispatchEvent(new Event("change"));
}

/** The theme in force. */
export const current = (): "dark" | "light" => {
  const c = chosen();
  return c === "auto" ? (system.matches ? "light" : "dark") : c;
};

export function useTheme(): "dark" | "light" {
  const [t, set] = useState(current);
  useEffect(() => {
    const look = (): void => set(current());
    changed.addEventListener("change", look);
    return () => changed.removeEventListener("change", look);
  }, []);
  return t;
}

export function useChoice(): Choice {
  const [c, set] = useState(chosen);
  useEffect(() => {
    const look = (): void => set(chosen());
    changed.addEventListener("change", look);
    return () => changed.removeEventListener("change", look);
  }, []);
  return c;
}
