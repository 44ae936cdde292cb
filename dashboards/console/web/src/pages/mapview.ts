// The drawing of the map: one canvas, drawn when something changed. Cells of one colour are
// filled together, so that ten thousand of them cost a few milliseconds.

import { cellAt, cornerOf, type Layout } from "../lib/layout";

export interface Cell {
  colour: number; // step of the ramp; -1: no value, -2: too old
  dim: boolean; // the filter leaves it out
  simulated: boolean;
  cordoned: boolean;
}

export interface Look {
  ramp: readonly string[];
  none: string;
  old: string;
  line: string;
  text: string;
  faint: string;
  accent: string;
  warn: string;
  font: string;
}

export interface Events {
  hover(cell: number, x: number, y: number): void;
  pick(cell: number, touch: boolean): void;
  moved(): void;
}

const closest = 24; // times as large as fits

export class MapView {
  private readonly ctx: CanvasRenderingContext2D;
  private layout: Layout = { pitch: 8, gap: 1, head: 22, dense: false, blocks: [], width: 0, height: 0 };
  private cells: Cell[] = [];
  private notes = new Map<string, string>(); // behind the titles of blocks
  private look: Look | undefined;
  private scale = 1;
  private x = 0; // of the map's corner, px
  private y = 0;
  private width = 0;
  private height = 0;
  private asked = false;
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private travelled = 0;
  private readonly stop = new AbortController();
  marked = -1; // the cell with a ring

  constructor(private readonly canvas: HTMLCanvasElement, private readonly events: Events) {
    this.ctx = canvas.getContext("2d", { alpha: true })!;
    const o = { signal: this.stop.signal };
    canvas.addEventListener("wheel", (e) => this.wheel(e), { ...o, passive: false });
    canvas.addEventListener("pointerdown", (e) => this.down(e), o);
    canvas.addEventListener("pointermove", (e) => this.move(e), o);
    for (const end of ["pointerup", "pointercancel"] as const) canvas.addEventListener(end, (e) => this.up(e), o);
    canvas.addEventListener("pointerleave", (e) => e.pointerType === "mouse" && this.events.hover(-1, 0, 0), o); // a finger leaves when it is lifted
    canvas.addEventListener("dblclick", () => this.fit(), o);
  }

  end(): void {
    this.stop.abort();
  }

  resize(width: number, height: number): void {
    const dpr = Math.min(window.devicePixelRatio || 1, 2);
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * dpr);
    this.canvas.height = Math.round(height * dpr);
    this.draw();
  }

  show(layout: Layout, cells: Cell[], notes: Map<string, string>, look: Look): void {
    const moved = layout !== this.layout;
    this.layout = layout;
    this.cells = cells;
    this.notes = notes;
    this.look = look;
    if (moved) this.clamp();
    this.draw();
  }

  mark(cell: number): void {
    if (cell === this.marked) return;
    this.marked = cell;
    this.draw();
  }

  fit(): void {
    this.scale = 1;
    this.x = this.y = 0;
    this.draw();
    this.events.moved();
  }

  zoom(factor: number, px = this.width / 2, py = this.height / 2): void {
    const next = Math.max(1, Math.min(closest, this.scale * factor)), f = next / this.scale;
    this.x = px - (px - this.x) * f;
    this.y = py - (py - this.y) * f;
    this.scale = next;
    this.clamp();
    this.draw();
    this.events.moved();
  }

  get zoomed(): number {
    return this.scale;
  }

  /** Where a cell is on the canvas; brings it into sight first where asked to. */
  place(cell: number, bring: boolean): { x: number; y: number; size: number } | undefined {
    const at = cornerOf(this.layout, cell);
    if (!at) return undefined;
    const size = this.layout.pitch * this.scale;
    let x = at.x * this.scale + this.x, y = at.y * this.scale + this.y;
    if (bring) {
      const dx = x < 0 ? -x + size : x + size > this.width ? this.width - x - 2 * size : 0;
      const dy = y < 0 ? -y + size : y + size > this.height ? this.height - y - 2 * size : 0;
      if (dx !== 0 || dy !== 0) {
        this.x += dx;
        this.y += dy;
        this.clamp();
        this.draw();
        x = at.x * this.scale + this.x;
        y = at.y * this.scale + this.y;
      }
    }
    return { x, y, size };
  }

  private clamp(): void {
    const keep = (at: number, size: number, room: number): number => (size <= room ? Math.max(0, Math.min(at, room - size)) : Math.max(room - size, Math.min(0, at)));
    if (this.scale === 1) {
      this.x = 0;
      this.y = keep(this.y, this.layout.height, this.height);
      if (this.layout.height <= this.height) this.y = 0;
      return;
    }
    this.x = keep(this.x, this.layout.width * this.scale, this.width);
    this.y = keep(this.y, this.layout.height * this.scale, this.height);
  }

  private draw(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.paint();
    });
  }

  private paint(): void {
    const { ctx, look, layout, scale } = this;
    if (!look || this.width === 0) return;
    const dpr = this.canvas.width / this.width;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, this.canvas.width, this.canvas.height);
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    const pitch = layout.pitch * scale, size = Math.max(1, (layout.pitch - layout.gap) * scale);
    const round = size >= 9 ? Math.min(5, size / 6) : 0;
    // Places of the cells in sight, by colour; those that the filter leaves out apart.
    const fills: number[][] = [], faint: number[] = [], none: number[] = [], old: number[] = [], marks: number[] = [], cordons: number[] = [];
    for (const b of layout.blocks) {
      const bx = b.x * scale + this.x, by = b.y * scale + this.y;
      if (bx > this.width || by > this.height || bx + b.w * scale < 0 || by + b.h * scale < 0) continue;
      this.title(b.name, b.count, bx, by, b.w * scale);
      const top = by + layout.head * scale;
      for (let i = 0; i < b.count; i++) {
        const x = bx + (i % b.columns) * pitch, y = top + Math.floor(i / b.columns) * pitch;
        if (x > this.width || y > this.height || x + pitch < 0 || y + pitch < 0) continue;
        const c = this.cells[b.first + i];
        if (!c) continue;
        if (c.dim) faint.push(x, y);
        else if (c.colour === -1) none.push(x, y);
        else if (c.colour === -2) old.push(x, y);
        else (fills[c.colour] ??= []).push(x, y);
        if (pitch >= 13 && !c.dim) {
          if (c.simulated) marks.push(x, y);
          if (c.cordoned) cordons.push(x, y);
        }
      }
    }
    const fill = (places: number[], style: string): void => {
      ctx.fillStyle = style;
      if (round === 0) {
        for (let i = 0; i < places.length; i += 2) ctx.fillRect(places[i]!, places[i + 1]!, size, size);
        return;
      }
      ctx.beginPath();
      for (let i = 0; i < places.length; i += 2) ctx.roundRect(places[i]!, places[i + 1]!, size, size, round);
      ctx.fill();
    };
    fills.forEach((places, k) => fill(places, look.ramp[k]!));
    fill(faint, look.faint);
    fill(none, look.none);
    fill(old, look.old);
    if (size >= 6) this.strike(old, size, look.line);
    this.notch(marks, size, look);
    this.ring(cordons, size, look.warn, 1.5);
    if (this.marked >= 0) {
      const at = this.place(this.marked, false);
      if (at) this.ring([at.x, at.y], size, look.accent, 2.5);
    }
  }

  private title(name: string, count: number, x: number, y: number, width: number): void {
    const { ctx, look, scale } = this;
    const { head, dense } = this.layout;
    const px = Math.min(15, (dense ? 10 : 12) * Math.sqrt(scale));
    const base = y + head * scale - (dense ? 4 : 7) * Math.min(scale, 1.6);
    ctx.font = `600 ${px}px ${look!.font}`;
    ctx.fillStyle = look!.text;
    let text = name === "" ? "without" : name;
    const note = dense && scale < 2 ? "" : (this.notes.get(name) ?? String(count));
    const room = note === "" ? width : width - note.length * px * 0.62 - 8;
    if (ctx.measureText(text).width > room) {
      while (text.length > 3 && ctx.measureText(`${text}…`).width > room) text = text.slice(0, -1);
      text += "…";
    }
    ctx.fillText(text, x, base);
    const w = ctx.measureText(text).width;
    ctx.font = `400 ${px}px ${look!.font}`;
    ctx.fillStyle = look!.line;
    ctx.fillText(note, x + w + 7, base);
  }

  /** A line through cells whose value is too old. */
  private strike(places: number[], size: number, style: string): void {
    const { ctx } = this;
    ctx.strokeStyle = style;
    ctx.lineWidth = 1.25;
    ctx.beginPath();
    for (let i = 0; i < places.length; i += 2) {
      ctx.moveTo(places[i]! + size * 0.22, places[i + 1]! + size * 0.78);
      ctx.lineTo(places[i]! + size * 0.78, places[i + 1]! + size * 0.22);
    }
    ctx.stroke();
  }

  /** The mark of a simulated node: a corner cut off. */
  private notch(places: number[], size: number, look: Look): void {
    const { ctx } = this;
    const n = Math.min(11, Math.max(4, size * 0.26));
    ctx.fillStyle = look.faint;
    ctx.globalCompositeOperation = "destination-out";
    ctx.beginPath();
    for (let i = 0; i < places.length; i += 2) {
      const x = places[i]! + size + 0.5, y = places[i + 1]! - 0.5;
      ctx.moveTo(x - n, y);
      ctx.lineTo(x, y);
      ctx.lineTo(x, y + n);
    }
    ctx.fill();
    ctx.globalCompositeOperation = "source-over";
  }

  private ring(places: number[], size: number, style: string, width: number): void {
    const { ctx } = this;
    ctx.strokeStyle = style;
    ctx.lineWidth = width;
    ctx.beginPath();
    for (let i = 0; i < places.length; i += 2) ctx.roundRect(places[i]! - 1.5, places[i + 1]! - 1.5, size + 3, size + 3, Math.min(6, size / 5 + 1));
    ctx.stroke();
  }

  private at(e: { offsetX: number; offsetY: number }): number {
    return cellAt(this.layout, (e.offsetX - this.x) / this.scale, (e.offsetY - this.y) / this.scale);
  }

  private wheel(e: WheelEvent): void {
    e.preventDefault();
    const px = e.deltaMode === 1 ? 16 : 1;
    this.zoom(Math.exp((-e.deltaY * px) / 300), e.offsetX, e.offsetY);
  }

  private down(e: PointerEvent): void {
    this.canvas.setPointerCapture(e.pointerId);
    this.pointers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
    if (this.pointers.size === 1) this.travelled = 0;
  }

  private move(e: PointerEvent): void {
    const last = this.pointers.get(e.pointerId);
    if (!last) {
      if (e.pointerType === "mouse") this.events.hover(this.at(e), e.offsetX, e.offsetY);
      return;
    }
    const now = { x: e.offsetX, y: e.offsetY };
    this.travelled += Math.hypot(now.x - last.x, now.y - last.y);
    if (this.pointers.size === 2) {
      const other = [...this.pointers].find(([id]) => id !== e.pointerId)![1];
      const before = Math.hypot(last.x - other.x, last.y - other.y), after = Math.hypot(now.x - other.x, now.y - other.y);
      if (before > 0) this.zoom(after / before, (now.x + other.x) / 2, (now.y + other.y) / 2);
    } else if (this.travelled > 4) {
      this.x += now.x - last.x;
      this.y += now.y - last.y;
      this.clamp();
      this.draw();
      this.events.moved();
    }
    this.pointers.set(e.pointerId, now);
  }

  private up(e: PointerEvent): void {
    if (!this.pointers.delete(e.pointerId) || this.travelled > 4 || e.type === "pointercancel" || e.button !== 0) return;
    const cell = this.at(e);
    if (cell >= 0) this.events.pick(cell, e.pointerType !== "mouse");
    else this.events.hover(-1, 0, 0);
  }
}
