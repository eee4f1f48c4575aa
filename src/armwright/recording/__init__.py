"""Episodes on disk: LeRobot v3 dataset, video, replay, verification, report."""
