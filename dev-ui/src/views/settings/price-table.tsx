import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { type Price, usePrices } from '../../app/cost.tsx';
import { changeSettings, useSettings } from '../../app/settings.ts';

/** The price table of the server, with the changes of this browser. */
export function PriceTable() {
  const prices = usePrices();
  const own = useSettings((state) => state.prices);
  const [name, setName] = useState('');
  const change = (model: string, price: Partial<Price>): void => {
    changeSettings({ prices: { ...own, [model]: { ...(prices[model] ?? { input: 0, output: 0 }), ...price } } });
  };
  const reset = (model: string): void => {
    const { [model]: _, ...rest } = own;
    changeSettings({ prices: rest });
  };
  return (
    <section className="stack">
      <h2>Prices</h2>
      <p className="secondary">
        US dollars per million tokens, by prefix of the model name. These are estimates; the bill of your provider may
        differ.
      </p>
      <div className="price-scroll" tabIndex={0} role="region" aria-label="Prices">
        <table className="prices">
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">Input</th>
              <th scope="col">Output</th>
              <th scope="col">
                <span className="visually-hidden">Reset</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(prices).map(([model, { input, output }]) => (
              <tr key={model}>
                <th scope="row" className="mono">
                  {model}
                </th>
                <td>
                  <Amount
                    label={`${model} input`}
                    value={input}
                    onChange={(value) => change(model, { input: value })}
                  />
                </td>
                <td>
                  <Amount
                    label={`${model} output`}
                    value={output}
                    onChange={(value) => change(model, { output: value })}
                  />
                </td>
                <td>
                  {Object.hasOwn(own, model) && (
                    <button
                      type="button"
                      className="icon-button"
                      aria-label={`Reset ${model}`}
                      onClick={() => reset(model)}
                    >
                      <X size={14} aria-hidden />
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== '') change(name.trim(), {});
          setName('');
        }}
      >
        <input
          className="input"
          aria-label="Other model"
          placeholder="Other model"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <button type="submit" className="button" disabled={name.trim() === ''}>
          <Plus size={14} aria-hidden /> Add
        </button>
      </form>
    </section>
  );
}

interface AmountProps {
  readonly label: string;
  readonly value: number;
  readonly onChange: (value: number) => void;
}

function Amount({ label, value, onChange }: AmountProps) {
  return (
    <input
      className="input amount"
      type="number"
      min={0}
      step="any"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(Number(event.target.value))}
    />
  );
}
