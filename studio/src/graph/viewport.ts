import { signal, type Signal } from '@preact/signals';
import type { Layout, Rectangle } from './layout';

const margin = 24;
/** The height of the buttons at the bottom. */
const toolsHeight = 36;
/** Of an outer block its upper part has to be seen. */
const headHeight = 80;
const zoomMin = 0.1;
const zoomMax = 2;
const firstZoomMin = 0.85;

export interface View {
  x: number;
  y: number;
  zoom: number;
}

/** Which part of the graph is seen, and how large. */
export class Viewport {
  readonly view: Signal<View> = signal({ x: margin, y: margin, zoom: 1 });
  readonly grabbed = signal(false);
  private frame: HTMLElement | null = null;
  private isPlaced = false;

  /** Returns what ends it. */
  attach(frame: HTMLElement): () => void {
    this.frame = frame;
    const onWheel = (event: WheelEvent): void => this.onWheel(event);
    frame.addEventListener('wheel', onWheel, { passive: false });
    return () => frame.removeEventListener('wheel', onWheel);
  }

  /** Small print helps no one: the first sight of a large graph is its upper part. */
  placeFirst(layout: Layout): void {
    if (this.isPlaced || layout.width === 0 || !this.frame) return;
    this.isPlaced = true;
    const room = this.frame.clientWidth - 2 * margin;
    const zoom = Math.min(1, Math.max(firstZoomMin, room / layout.width));
    this.view.value = { zoom, x: margin + Math.max(0, (room - layout.width * zoom) / 2), y: margin };
  }

  fit(layout: Layout): void {
    if (!this.frame || layout.width === 0) return;
    const { clientWidth, clientHeight } = this.frame;
    const needed = Math.min((clientWidth - 2 * margin) / layout.width, (clientHeight - 2 * margin) / layout.height);
    const zoom = Math.min(1, Math.max(zoomMin, needed));
    this.view.value = { zoom, x: (clientWidth - layout.width * zoom) / 2, y: margin };
  }

  zoomBy(factor: number): void {
    if (this.frame) this.zoomAt(this.frame.clientWidth / 2, this.frame.clientHeight / 2, factor);
  }

  private zoomAt(x: number, y: number, factor: number): void {
    const { x: left, y: top, zoom } = this.view.value;
    const next = Math.min(zoomMax, Math.max(zoomMin, zoom * factor));
    this.view.value = { zoom: next, x: x - ((x - left) * next) / zoom, y: y - ((y - top) * next) / zoom };
  }

  /** Moves the graph as little as needed so that this can be seen. */
  show({ x, y, width, height }: Rectangle): void {
    if (!this.frame) return;
    const { x: left, y: top, zoom } = this.view.value;
    const shift = (start: number, size: number, room: number): number => {
      if (start < margin) return margin - start;
      const over = Math.min(start + size + margin - room, start - margin);
      return over > 0 ? -over : 0;
    };
    const dx = shift(left + x * zoom, width * zoom, this.frame.clientWidth);
    const dy = shift(top + y * zoom, Math.min(height, headHeight) * zoom, this.frame.clientHeight - toolsHeight);
    if (dx !== 0 || dy !== 0) this.view.value = { zoom, x: left + dx, y: top + dy };
  }

  private onWheel(event: WheelEvent): void {
    event.preventDefault();
    if (!this.frame) return;
    if (event.ctrlKey || event.metaKey) {
      const { left, top } = this.frame.getBoundingClientRect();
      this.zoomAt(event.clientX - left, event.clientY - top, Math.exp(-event.deltaY / 300));
    } else {
      const { x, y, zoom } = this.view.value;
      this.view.value = { zoom, x: x - event.deltaX, y: y - event.deltaY };
    }
  }

  /** The graph follows the pointer until it is released. */
  grab(event: PointerEvent): void {
    const { frame } = this;
    if (!frame || event.button > 1) return;
    const start = { ...this.view.value, left: event.clientX, top: event.clientY };
    frame.setPointerCapture(event.pointerId);
    this.grabbed.value = true;
    const move = (next: PointerEvent): void => {
      const { zoom, x, y, left, top } = start;
      this.view.value = { zoom, x: x + next.clientX - left, y: y + next.clientY - top };
    };
    const end = (): void => {
      this.grabbed.value = false;
      frame.removeEventListener('pointermove', move);
      frame.removeEventListener('pointerup', end);
      frame.removeEventListener('pointercancel', end);
    };
    frame.addEventListener('pointermove', move);
    frame.addEventListener('pointerup', end);
    frame.addEventListener('pointercancel', end);
  }
}
