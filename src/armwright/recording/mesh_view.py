"""A mesh to turn and zoom inside a page: one canvas, a few lines of WebGL 2, the mesh as text; nothing is fetched."""

from __future__ import annotations

import base64
import json

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armwright.core.errors import UsageError

VERTEX_SHADER = """#version 300 es
in vec3 p; in vec3 c; uniform mat4 m; uniform mat3 turn; uniform vec3 size; out vec3 at; out vec3 colour;
void main() { vec3 q = (p - 0.5) * size; at = turn * q; colour = c; gl_Position = m * vec4(q, 1.0); }
"""
FRAGMENT_SHADER = """#version 300 es
precision highp float;
in vec3 at; in vec3 colour; out vec4 shown;
void main() {
  vec3 n = normalize(cross(dFdx(at), dFdy(at)));
  float light = 0.45 + 0.55 * abs(dot(n, normalize(vec3(0.35, 0.55, 0.76))));
  shown = vec4(colour * light, 1.0);
}
"""
SCRIPT = """
(function (d) {
  const canvas = document.getElementById(d.id), gl = canvas.getContext('webgl2', {antialias: true});
  if (!gl) { canvas.insertAdjacentText('afterend', 'This browser draws no WebGL 2.'); return; }
  const bytes = (s) => Uint8Array.from(atob(s), (x) => x.charCodeAt(0));
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, d.vertex], [gl.FRAGMENT_SHADER, d.fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text); gl.compileShader(shader); gl.attachShader(program, shader);
  }
  gl.linkProgram(program); gl.useProgram(program);
  const feed = (name, data, type) => {
    const where = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(where); gl.vertexAttribPointer(where, 3, type, true, 0, 0);
  };
  feed('p', new Uint16Array(bytes(d.points).buffer), gl.UNSIGNED_SHORT);
  feed('c', bytes(d.colours), gl.UNSIGNED_BYTE);
  const faces = new Uint32Array(bytes(d.faces).buffer);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.STATIC_DRAW);
  gl.enable(gl.DEPTH_TEST); gl.clearColor(1, 1, 1, 1);
  const at = (name) => gl.getUniformLocation(program, name);
  const span = Math.hypot(...d.size);
  let yaw = 0.35, pitch = 0.25, away = 1.45 * span, sideways = 0, upwards = 0;
  const draw = () => {
    const w = canvas.width = canvas.clientWidth, h = canvas.height = canvas.clientHeight;
    // Mesh: x away from the viewer, y to the left, z up. Screen: x right, y up, z towards the viewer.
    const cy = Math.cos(yaw), sy = Math.sin(yaw), cp = Math.cos(pitch), sp = Math.sin(pitch);
    const r = [[-sy, -cy, 0], [sp * cy, -sp * sy, cp], [-cp * cy, cp * sy, sp]];
    const f = 1.6, near = 0.02 * span, far = 10 * span, aspect = w / h;
    const a = (far + near) / (near - far), b = 2 * far * near / (near - far), m = new Float32Array(16);
    for (let k = 0; k < 3; k++) {
      m[4 * k] = f / aspect * r[0][k]; m[4 * k + 1] = f * r[1][k]; m[4 * k + 2] = a * r[2][k]; m[4 * k + 3] = -r[2][k];
    }
    m[12] = f / aspect * sideways; m[13] = f * upwards; m[14] = -a * away + b; m[15] = away;
    gl.viewport(0, 0, w, h); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniformMatrix4fv(at('m'), false, m);
    gl.uniformMatrix3fv(at('turn'), false, new Float32Array([0, 1, 2].flatMap((k) => [r[0][k], r[1][k], r[2][k]])));
    gl.uniform3fv(at('size'), new Float32Array(d.size));
    gl.drawElements(gl.TRIANGLES, faces.length, gl.UNSIGNED_INT, 0);
  };
  canvas.addEventListener('pointermove', (e) => {
    if (!e.buttons) return;
    const px = away / canvas.clientHeight / 0.8;
    if (e.shiftKey || e.buttons > 1) { sideways += e.movementX * px; upwards -= e.movementY * px; }
    else { yaw += 0.008 * e.movementX; pitch = Math.min(1.5, Math.max(-1.5, pitch + 0.008 * e.movementY)); }
    draw();
  });
  canvas.addEventListener('pointerdown', (e) => canvas.setPointerCapture(e.pointerId));
  canvas.addEventListener('contextmenu', (e) => e.preventDefault());
  canvas.addEventListener('wheel', (e) => {
    e.preventDefault(); away = Math.min(8 * span, Math.max(0.1 * span, away * Math.exp(0.001 * e.deltaY))); draw();
  }, {passive: false});
  window.addEventListener('resize', draw);
  draw();
})"""


def mesh_view(
    points_m: ArrayLike, rgb: ArrayLike, faces: ArrayLike, *, identity: str = "mesh", height_px: int = 460
) -> str:
    """Return HTML of a mesh that a reader can turn (drag), move (shift and drag) and zoom (wheel).

    Args:
        points_m: (n, 3) vertices [m]; x away from the reader, y to the left, z up.
        rgb: (n, 3) uint8.
        faces: (f, 3) indices.
        identity: Unique in the page.
        height_px: Of the canvas.

    Raises:
        UsageError: An index that is no vertex.
    """
    points, triangles = np.asarray(points_m, float).reshape(-1, 3), np.asarray(faces, np.int64).reshape(-1, 3)
    if len(triangles) == 0 or len(points) == 0:
        return ""
    if triangles.min() < 0 or triangles.max() >= len(points):
        raise UsageError(f"faces name vertices {triangles.min()} to {triangles.max()} of {len(points)}.")
    low, high = points.min(0), points.max(0)
    size = np.maximum(high - low, 1e-6)
    steps = np.rint((points - low) / size * 65535).astype("<u2")
    data = {
        "id": identity,
        "size": [round(float(s), 5) for s in size],
        "points": _text(steps),
        "colours": _text(np.asarray(rgb, np.uint8).reshape(-1, 3)),
        "faces": _text(triangles.astype("<u4")),
        "vertex": VERTEX_SHADER,
        "fragment": FRAGMENT_SHADER,
    }
    style = f"width:100%;height:{height_px}px;display:block;touch-action:none;cursor:grab;background:#fff"
    return (
        f'<canvas id="{identity}" style="{style}"></canvas><script>{SCRIPT}({json.dumps(data)});</script>'
        '<p class="hint">Drag to turn, shift and drag to move, wheel to zoom.</p>'
    )


def _text(array: NDArray[np.generic]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
