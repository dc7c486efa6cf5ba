/**
 * Runs in the interpreter first: removes or replaces the modules that lead to the JavaScript around it. Returns the
 * function that executes code and returns its error text; exits and interrupts never reach the event loop.
 */
export const pythonPrelude = `
import os, sys

class _Closed:
    names = {'js', 'pyodide_js', 'micropip', 'ctypes', '_ctypes', '_pyodide_core', 'pyodide.http', 'pyodide._package_loader'}
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in cls.names or name.split('.')[0] in cls.names:
            raise ImportError(f'"{name}" is not available in the sandbox')
        return None

sys.meta_path.insert(0, _Closed)

def _closed(*args, **kwargs):
    raise PermissionError('not permitted in the sandbox')

import asyncio, pyodide.code, pyodide.ffi, socket, posix
for _module in (pyodide.code, pyodide):
    if hasattr(_module, 'run_js'):
        _module.run_js = _closed
for _name in ('system', 'popen', 'execv', 'execve', 'fork', 'posix_spawn', 'posix_spawnp', 'kill'):
    for _module in (os, posix):
        if hasattr(_module, _name):
            setattr(_module, _name, _closed)
class _NoSocket(socket.socket):
    def __init__(self, *args, **kwargs):
        _closed()
socket.socket = socket.SocketType = _NoSocket
socket.create_connection = socket.getaddrinfo = socket.gethostbyname = _closed
import _socket
_socket.socket = _closed
for _name in [name for name in sys.modules if name.split('.')[0] in ('js', 'pyodide_js', 'ctypes', '_ctypes')]:
    del sys.modules[_name]
sys.modules.pop('_pyodide_core', None)
os.environ.clear()

import traceback
_evaluate = pyodide.code.eval_code_async
_main = {'__name__': '__main__'}

async def run(code):
    try:
        await _evaluate(code, globals=_main, filename='code.py')
        return ''
    except SystemExit as end:
        return '' if end.code in (None, 0) else f'SystemExit: {end.code}'
    except BaseException as error:
        return ''.join(traceback.format_exception(error))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()

run
`;
