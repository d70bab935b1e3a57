// What eslint checks in the page's modules; types are checked by tsc.
const BROWSER = ['document', 'location', 'history', 'navigator', 'performance', 'console', 'setTimeout', 'clearTimeout', 'requestAnimationFrame',
  'matchMedia', 'addEventListener', 'getComputedStyle', 'devicePixelRatio', 'innerWidth', 'innerHeight', 'ResizeObserver',
  'HTMLElement', 'Blob', 'URL', 'URLSearchParams', 'TextDecoder', 'DecompressionStream', 'Response', 'Document', 'Node', 'atob'];

export default [{
  files: ['**/*.js'],
  languageOptions: {
    ecmaVersion: 2023, sourceType: 'module', globals: Object.fromEntries(BROWSER.map((name) => [name, 'readonly'])),
  },
  linterOptions: { reportUnusedDisableDirectives: 'error' },
  rules: {
    'no-undef': 'error', 'no-unused-vars': 'error', 'no-shadow': 'error', 'no-var': 'error', 'prefer-const': 'error',
    eqeqeq: 'error', 'no-eval': 'error', 'no-implied-eval': 'error', 'no-new-func': 'error', 'no-control-regex': 'error',
    'no-fallthrough': 'error', 'no-unreachable': 'error', 'no-dupe-keys': 'error', 'no-duplicate-case': 'error',
    'no-cond-assign': 'error', 'no-self-assign': 'error', 'no-unsafe-finally': 'error', 'no-loss-of-precision': 'error',
    'no-irregular-whitespace': 'error', 'no-useless-escape': 'error', 'no-sparse-arrays': 'error', 'no-empty': 'error',
    'no-restricted-properties': ['error', ...['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'srcdoc'].map((property) => ({ property }))],
    'max-lines': ['error', { max: 420, skipComments: true }], 'max-lines-per-function': ['error', 60],
  },
}];
