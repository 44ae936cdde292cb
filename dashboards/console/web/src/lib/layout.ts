// Where each node stands on the map: a block of cells for each group, blocks in lines like
// words. It is pure, and the same nodes in the same room give the same map.

export interface Block {
  name: string;
  x: number; // of the block
  y: number;
  w: number;
  h: number;
  columns: number;
  first: number; // of its cells, in the order of the map
  count: number;
}

export interface Layout {
  pitch: number; // px from cell to cell
  gap: number; // px of it between cells
  head: number; // px of a block's title
  dense: boolean; // many blocks: titles are small, and without numbers
  blocks: Block[];
  width: number;
  height: number;
}

export interface Group {
  name: string;
  count: number;
}

const many = 40; // blocks that make a map dense
const smallest = 4, largest = 68; // px a cell

/** The largest cells with which all groups stand in width × height; at the smallest, taller. */
export function layout(groups: readonly Group[], width: number, height: number): Layout {
  let lo = smallest, hi = largest;
  let best = place(groups, width, lo);
  if (best.height > height) return best;
  while (hi - lo > 0.5) {
    const mid = (lo + hi) / 2, l = place(groups, width, mid);
    if (l.height <= height && l.width <= width) {
      lo = mid;
      best = l;
    } else hi = mid;
  }
  return best;
}

/** The height of a map with cells of a pitch. */
export const heightAt = (groups: readonly Group[], width: number, pitch: number): number => place(groups, width, pitch).height;

function place(groups: readonly Group[], width: number, pitch: number): Layout {
  const gap = pitch >= 36 ? 4 : pitch >= 14 ? 3 : pitch >= 8 ? 2 : 1;
  const dense = groups.length > many, head = dense ? 15 : 22, between = dense ? 9 : 18;
  const blocks: Block[] = [];
  let x = 0, y = 0, line = 0, first = 0, right = 0;
  for (const g of groups) {
    const least = Math.min(width, dense ? 6.5 * Math.min(g.name.length, 10) + 2 : 7 * Math.min(g.name.length, 22) + 46); // room for its title
    const columns = Math.max(1, Math.min(Math.floor(width / pitch), Math.max(Math.ceil(Math.sqrt(g.count * 1.6)), Math.min(g.count, Math.floor(least / pitch)))));
    const w = Math.max(columns * pitch, least), h = head + Math.ceil(g.count / columns) * pitch;
    if (x > 0 && x + w > width) {
      x = 0;
      y += line + between;
      line = 0;
    }
    blocks.push({ name: g.name, x, y, w, h, columns, first, count: g.count });
    x += w + between;
    right = Math.max(right, x - between);
    line = Math.max(line, h);
    first += g.count;
  }
  return { pitch, gap, head, dense, blocks, width: right, height: y + line };
}

/** The cell at a point, or -1. */
export function cellAt(l: Layout, px: number, py: number): number {
  for (const b of l.blocks) {
    const x = px - b.x, y = py - b.y - l.head;
    if (x < 0 || y < 0 || x >= b.columns * l.pitch || y >= b.h - l.head) continue;
    const i = Math.floor(y / l.pitch) * b.columns + Math.floor(x / l.pitch);
    return i < b.count ? b.first + i : -1;
  }
  return -1;
}

/** The corner of a cell. */
export function cornerOf(l: Layout, cell: number): { x: number; y: number; block: Block } | undefined {
  const block = l.blocks.find((b) => cell >= b.first && cell < b.first + b.count);
  if (!block) return undefined;
  const i = cell - block.first;
  return { x: block.x + (i % block.columns) * l.pitch, y: block.y + l.head + Math.floor(i / block.columns) * l.pitch, block };
}

/** The cell that an arrow key leads to. Up and down stay in the column as far as they can. */
export function neighbour(l: Layout, cell: number, key: string, total: number): number {
  if (total === 0) return -1;
  if (cell < 0) return 0;
  const at = cornerOf(l, cell);
  if (!at) return 0;
  const { block } = at, i = cell - block.first;
  switch (key) {
    case "ArrowRight": return Math.min(total - 1, cell + 1);
    case "ArrowLeft": return Math.max(0, cell - 1);
    case "Home": return 0;
    case "End": return total - 1;
    case "ArrowDown": {
      if (i + block.columns < block.count) return cell + block.columns;
      const next = l.blocks[l.blocks.indexOf(block) + 1];
      return next ? next.first + Math.min(i % block.columns, next.count - 1) : cell;
    }
    case "ArrowUp": {
      if (i >= block.columns) return cell - block.columns;
      const before = l.blocks[l.blocks.indexOf(block) - 1];
      if (!before) return cell;
      const last = Math.floor((before.count - 1) / before.columns) * before.columns;
      return before.first + Math.min(last + (i % block.columns), before.count - 1);
    }
    default: return cell;
  }
}
