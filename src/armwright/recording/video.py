"""Video files, frame by frame: encode as frames come, join and cut without encoding again, read single frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import OutputError, UsageError
from armwright.core.files import atomic_path
from armwright.recording.episode import Image

KEYFRAME_EVERY = 5
"""A reader that jumps to any frame decodes three frames on average; every second frame a key frame doubles the size."""

_OPTIONS = {
    "preset": "veryfast",
    "crf": "20",
    "g": str(KEYFRAME_EVERY),
    "keyint_min": str(KEYFRAME_EVERY),
    "sc_threshold": "0",
    "bf": "0",
}


class VideoEncoder:
    """Writes (H, W, 3) uint8 frames to an H.264 file as they come; one frame is held at a time.

    There are no B frames, so packets are in display order and can be joined and cut at key frames.

    Args:
        path: Where the file goes.
        fps: Frames per second; frame k is shown at exactly k / fps.
    """

    def __init__(self, path: Path, *, fps: int) -> None:
        import av

        self._fps = fps
        self._container: Any = av.open(str(path), "w", format="mp4")
        self._stream: Any = None
        self._shape: tuple[int, ...] = ()
        self.frames = 0

    def __enter__(self) -> VideoEncoder:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self.close()

    def add(self, image: Image) -> None:
        """Encode the next frame.

        Raises:
            UsageError: Not (H, W, 3) uint8 with even sides, or not the size of the first frame.
        """
        import av

        if (
            image.dtype != np.uint8
            or image.ndim != 3
            or image.shape[2] != 3
            or image.shape[0] % 2
            or image.shape[1] % 2
        ):
            raise UsageError(f"a frame is (H, W, 3) uint8 with even H and W, got {image.shape} {image.dtype}.")
        if self._stream is None:
            stream = self._container.add_stream("libx264", rate=self._fps, options=dict(_OPTIONS))
            stream.height, stream.width = image.shape[:2]
            stream.pix_fmt = "yuv420p"
            stream.thread_count = 1
            stream.time_base = Fraction(1, self._fps)
            self._stream, self._shape = stream, image.shape
        elif image.shape != self._shape:
            raise UsageError(f"frame {self.frames} is {image.shape}, the first was {self._shape}.")
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24")
        frame.pts, frame.time_base = self.frames, Fraction(1, self._fps)
        for packet in self._stream.encode(frame):
            self._container.mux(packet)
        self.frames += 1

    def close(self) -> None:
        """Flush and close the file."""
        if self._container is None:
            return
        if self._stream is not None:
            for packet in self._stream.encode():
                self._container.mux(packet)
        self._container.close()
        self._container = None


def write_video(path: str | Path, frames: Iterable[Image], *, fps: int = 20) -> int:
    """Write frames to an MP4 file, whole or not at all, and return how many there were.

    Raises:
        UsageError: No frames, or frames of different or odd sizes.
        OutputError: The file cannot be written.
    """
    with atomic_path(path) as temporary:
        with VideoEncoder(temporary, fps=fps) as encoder:
            for image in frames:
                encoder.add(image)
        if encoder.frames == 0:
            raise UsageError(f"no frames for {path}.")
    return encoder.frames


def side_by_side(*streams: Iterable[Image], gap_px: int = 4) -> Iterator[Image]:
    """Yield frames with the streams' pictures next to each other, scaled to the first one's height.

    Raises:
        UsageError: The streams have different lengths.
    """
    from PIL import Image as Picture

    for images in zip(*streams, strict=True):
        height = images[0].shape[0]
        parts: list[NDArray[np.uint8]] = []
        for image in images:
            if image.shape[0] != height:
                width = max(2, round(image.shape[1] * height / image.shape[0]))
                image = np.asarray(Picture.fromarray(image).resize((width, height), Picture.Resampling.BILINEAR))
            parts += [image, np.full((height, gap_px, 3), 255, dtype=np.uint8)]
        joined = np.concatenate(parts[:-1], axis=1)
        yield joined[: height // 2 * 2, : joined.shape[1] // 2 * 2]


def join_videos(sources: Sequence[Path], target: Path, *, fps: int) -> list[int]:
    """Put videos one after another by copying packets, and return each one's number of frames.

    Raises:
        OutputError: A source is damaged, or was encoded differently from the first.
    """
    import av

    counts: list[int] = []
    with atomic_path(target) as temporary, av.open(str(temporary), "w", format="mp4") as out:
        stream: Any = None
        extradata = b""
        offset = 0
        for source in sources:
            with _open(source) as container:
                inward = container.streams.video[0]
                if stream is None:
                    stream = out.add_stream_from_template(inward)
                    stream.time_base = inward.time_base
                    extradata = inward.codec_context.extradata
                elif inward.codec_context.extradata != extradata:
                    raise OutputError(f"{source} was encoded differently from {sources[0]}; they cannot be joined.")
                count = 0
                for packet in container.demux(inward):
                    if packet.size:
                        _mux(out, stream, packet, frame=offset + count, fps=fps)
                        count += 1
            counts.append(count)
            offset += count
    return counts


def cut_video(source: Path, target: Path, *, start: int, count: int, fps: int) -> None:
    """Copy ``count`` frames from frame ``start``, which must be a key frame, without encoding again."""
    import av

    with (
        atomic_path(target) as temporary,
        av.open(str(temporary), "w", format="mp4") as out,
        _open(source) as container,
    ):
        inward = container.streams.video[0]
        stream = out.add_stream_from_template(inward)
        stream.time_base = inward.time_base
        container.seek(_ticks(start, inward.time_base, fps), stream=inward, backward=True)
        copied = 0
        for packet in container.demux(inward):
            if not packet.size or copied == count:
                break
            index = frame_number(packet.pts, packet.time_base, fps)
            if index < start:
                continue
            if copied == 0 and not packet.is_keyframe:
                raise OutputError(f"{source}: frame {start} is not a key frame.", hint="Run armwright dataset verify.")
            _mux(out, stream, packet, frame=copied, fps=fps)
            copied += 1
    if copied != count:
        raise OutputError(f"{source} ended after {copied} of {count} frames.", hint="Run armwright dataset verify.")


def read_frames(path: Path, *, fps: int, start: int = 0, count: int | None = None) -> Iterator[Image]:
    """Yield ``count`` frames from frame number ``start`` on (all that follow, if None).

    Raises:
        OutputError: The file cannot be opened or decoded.
    """
    import av

    with _open(path) as container:
        stream = container.streams.video[0]
        stream.thread_count = 1
        if start:
            container.seek(_ticks(start, stream.time_base, fps), stream=stream, backward=True)
        given = 0
        try:
            for frame in container.decode(stream):
                if frame_number(frame.pts, frame.time_base, fps) < start:
                    continue
                if given == count:
                    return
                yield frame.to_ndarray(format="rgb24")
                given += 1
        except av.FFmpegError as error:
            raise OutputError(f"cannot decode {path}: {error}.", hint="The video is damaged.") from error


def packet_times(path: Path) -> list[tuple[float, bool]]:
    """Return (time [s], is a key frame) of every frame, without decoding."""
    import av

    try:
        with _open(path) as container:
            stream = container.streams.video[0]
            return [(float(p.pts * p.time_base), p.is_keyframe) for p in container.demux(stream) if p.size]
    except av.FFmpegError as error:
        raise OutputError(f"cannot read {path}: {error}.", hint="The video is damaged.") from error


def frame_number(pts: int, time_base: Fraction, fps: int) -> int:
    """Return the number of the frame shown at ``pts``."""
    return round(pts * time_base * fps)


def _ticks(frame: int, time_base: Fraction, fps: int) -> int:
    return round(Fraction(frame, fps) / time_base)


def _mux(out: Any, stream: Any, packet: Any, *, frame: int, fps: int) -> None:
    ticks = _ticks(frame, packet.time_base, fps)
    packet.pts = packet.dts = ticks
    packet.duration = _ticks(1, packet.time_base, fps)
    packet.stream = stream
    out.mux(packet)


def _open(path: Path) -> Any:
    import av

    try:
        container = av.open(str(path))
    except (av.FFmpegError, OSError) as error:
        raise OutputError(f"cannot open {path}: {error}.", hint="The video is missing or damaged.") from error
    if not container.streams.video:
        container.close()
        raise OutputError(f"{path} holds no video.", hint="The file is damaged.")
    return container
