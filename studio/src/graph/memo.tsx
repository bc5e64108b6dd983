import { Component, type ComponentChild } from 'preact';

/** A component without state that is drawn again only if one of its properties has another value. */
export function memo<Props extends object>(draw: (props: Props) => ComponentChild) {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const before = this.props as Record<string, unknown>;
      const after = next as Record<string, unknown>;
      return Object.keys(after).some((name) => before[name] !== after[name]);
    }
    override render(): ComponentChild {
      return draw(this.props);
    }
  };
}
